#!/bin/sh
# Assembles the image of the Dockerfile without Docker: `make image`, as root on Debian, with mmdebstrap
# and umoci, with the time of the commit on every file. It leaves dist/image, an OCI layout, for
# `skopeo copy oci:dist/image:0.1.0 docker://registry.example/printworks:0.1.0`, and the like.
set -eu
cd "$(dirname "$0")/../.."
python=$PWD/.venv/bin/python
version=$($python -c 'import printworks; print(printworks.__version__)')
wheel=$PWD/dist/printworks-$version-py3-none-any.whl
requirements=$PWD/dist/printworks-$version-requirements.txt
bill=$PWD/dist/printworks-$version.cdx.json
[ -e "$wheel" ] || { echo "make image: run make release first" >&2; exit 1; }
$python -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || {
    echo "make image: needs Python 3.11, as in Debian 12, to choose the right packages" >&2; exit 1; }
SOURCE_DATE_EPOCH=$(git show --no-patch --format=%ct HEAD)
export SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Each package is compared with its hash while it is downloaded; one that has no wheel is built.
$python -m pip wheel -qq --disable-pip-version-check --require-hashes --wheel-dir "$work/wheels" -r "$requirements"
cp "$wheel" "$work/wheels/"
printworks=/opt/printworks
mmdebstrap --quiet --variant=minbase --include=python3-venv bookworm "$work/build" \
    --customize-hook="cp -r $work/wheels \$1/wheels" \
    --customize-hook="chroot \$1 python3 -m venv $printworks" \
    --customize-hook="chroot \$1 sh -c '$printworks/bin/pip install -qq --no-compile --no-index --no-deps /wheels/*.whl'" \
    --customize-hook="chroot \$1 $printworks/bin/python -m pip uninstall -qq --yes pip setuptools || true"
mmdebstrap --quiet --variant=minbase --include=python3,ca-certificates bookworm "$work/root" \
    --customize-hook="chroot \$1 useradd --uid 10001 --user-group --no-create-home --home-dir /data printworks" \
    --customize-hook='chroot $1 install -d -o printworks -g printworks -m 0700 /data' \
    --customize-hook='chroot $1 install -d -o printworks -g printworks -m 0755 /run/printworks' \
    --customize-hook="cp -a $work/build/opt/printworks \$1/opt/printworks" \
    --customize-hook="install -m 0644 $bill \$1/opt/printworks/sbom.cdx.json" \
    --customize-hook='find $1/opt/printworks -name __pycache__ -prune -exec rm -r {} +' \
    --customize-hook='rm -rf $1/var/lib/apt/lists $1/var/cache/* $1/var/log/* $1/usr/share/doc $1/usr/share/man $1/etc/machine-id'
tar --create --file "$work/layer.tar" --directory "$work/root" --sort=name --numeric-owner \
    --mtime="@$SOURCE_DATE_EPOCH" --exclude=./dev/* .

created=$($python -c 'import datetime, sys; print(datetime.datetime.fromtimestamp(int(sys.argv[1]), datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))' "$SOURCE_DATE_EPOCH")
rm -rf dist/image
umoci init --layout dist/image
umoci new --image "dist/image:$version"
umoci raw add-layer --image "dist/image:$version" --history.created "$created" "$work/layer.tar"
umoci config --image "dist/image:$version" --created "$created" --history.created "$created" \
    --config.user 10001:10001 --config.volume /data --config.exposedports 8443/tcp \
    --config.stopsignal SIGTERM --config.entrypoint printworks --config.cmd serve \
    --config.env PATH=/opt/printworks/bin:/usr/bin:/bin --config.env PYTHONDONTWRITEBYTECODE=1 \
    --config.env PRINTWORKS_DATA=/data --config.env PRINTWORKS_HOST=0.0.0.0 \
    --config.env PRINTWORKS_LOG_FORMAT=json \
    --config.label org.opencontainers.image.title=Printworks \
    --config.label org.opencontainers.image.licenses=Apache-2.0
umoci gc --layout dist/image
echo "Built dist/image:$version ($(du -sh dist/image | cut -f1)), $($python -c 'import json; print(json.load(open("dist/image/index.json"))["manifests"][0]["digest"])')"
