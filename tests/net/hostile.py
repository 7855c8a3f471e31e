"""Addresses that somebody could try on us, and ordinary ones that must go on working."""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final

from printworks.net.addresses import FORBIDDEN_4, FORBIDDEN_6, METADATA

# Public, and never contacted: the tests stop before a connection or at one that is forbidden.
PUBLIC: Final = "93.184.215.14"

# What the names in the tests stand for; each name has one forbidden address at least.
NAMES: Final[dict[str, list[str]]] = {
    "loopback.example": ["127.0.0.1"],
    "loopback-6.example": ["::1"],
    "private.example": ["10.0.0.5"],
    "metadata.example": ["169.254.169.254"],
    "metadata-6.example": ["fd00:ec2::254"],
    "metadata-public.example": ["168.63.129.16"],
    "mapped.example": ["::ffff:10.0.0.5"],
    "translated.example": ["64:ff9b::a00:5"],
    "zone.example": ["fe80::1%1"],
    "zero.example": ["0.0.0.0"],
    "good-then-bad.example": [PUBLIC, "10.0.0.5"],
    "bad-then-good.example": ["10.0.0.5", PUBLIC],
    "good-4-bad-6.example": [PUBLIC, "fd12::5"],
    "bad-4-good-6.example": ["192.168.0.5", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"],
    "many.example": [PUBLIC] * 12 + ["127.0.0.1"],
    "localhost": ["::1", "127.0.0.1"],
    "shop.localhost": ["127.0.0.1"],
    "xn--bcher-kva.example": ["172.16.0.5"],
    "public.example": [PUBLIC],
}
TARGETS: Final = ("127.0.0.1", "10.0.0.5", "169.254.169.254", "192.168.0.5", "172.31.255.254")


def list_hostile() -> list[str]:
    """Return every hostile address once."""
    found = [
        *(url for target in TARGETS for url in encode(IPv4Address(target))),
        *_list_ranges(),
        *(f"http://{name}/" for name in NAMES if name != "public.example"),
        *_TRICKS,
        *_PORTS,
        *_SCHEMES,
    ]
    return list(dict.fromkeys(found))


def encode(target: IPv4Address) -> Iterator[str]:
    """Write an IPv4 address in every way that some reader of addresses understands."""
    number = int(target)
    mirrored = number ^ 0xFFFF_FFFF
    a, b, c, d = target.packed
    high, low = f"{a:02x}{b:02x}", f"{c:02x}{d:02x}"
    wide = str.maketrans(
        "0123456789", "\uff10\uff11\uff12\uff13\uff14\uff15\uff16\uff17\uff18\uff19"
    )
    hosts = (
        f"{target}",
        f"{target}.",
        f"{number}",
        f"0x{number:x}",
        f"0X{number:08X}",
        f"0{number:o}",
        f"0x{a:x}.0x{b:x}.0x{c:x}.0x{d:x}",
        f"0{a:o}.0{b:o}.0{c:o}.0{d:o}",
        f"000{a:o}.{b}.{c}.{d}",
        f"{a:03}.{b:03}.{c:03}.{d:03}",
        f"{a}.{b}.{c * 256 + d}",
        f"{a}.{(b * 256 + c) * 256 + d}",
        f"0x{a:x}.{b}.0{c * 256 + d:o}",
        f"{number + 2**32}",
        f"{target}".translate(wide),
        f"{target}".replace(".", "。"),
        f"{target}".replace(".", "\uff0e"),
        f"{target}".replace("1", "①"),
        "".join(f"%{ord(letter):02x}" for letter in str(target)),
        f"{target}%00.public.example",
        f"[::ffff:{target}]",
        f"[::ffff:{high}:{low}]",
        f"[0:0:0:0:0:ffff:{high}:{low}]",
        f"[::{target}]",
        f"[::ffff:0:{target}]",
        f"[64:ff9b::{target}]",
        f"[64:ff9b:1::{target}]",
        f"[64:ff9b:1:{high}:0:{low}::]",
        f"[2002:{high}:{low}::1]",
        f"[2001:0:5db8:d70e:0:ffff:{mirrored >> 16:x}:{mirrored & 0xFFFF:x}]",
        f"[2606:4700::5efe:{high}:{low}]",
        f"[2606:4700::200:5efe:{high}:{low}]",
        f"public.example@{target}",
        f"public.example:80@{target}:80",
        f"public.example%40@{target}",
        f"public.example\\@{target}",
    )
    yield from (f"http://{host}/" for host in hosts)
    yield f"https://{target}/latest/meta-data/"


def _list_ranges() -> Iterator[str]:
    networks: list[IPv4Network | IPv6Network] = [*FORBIDDEN_4, *FORBIDDEN_6]
    for network in networks:
        for address in (network[0], network[-1], network[network.num_addresses // 2]):
            yield _literal(address)
    yield from map(_literal, METADATA)
    # Not assigned to anybody, so nobody honest is there.
    for text in ("1::1", "200::1", "400::1", "4000::1", "8000::1", "a000::1", "c000::1", "e000::1"):
        yield _literal(IPv6Address(text))


def _literal(address: IPv4Address | IPv6Address) -> str:
    return f"http://[{address}]/" if isinstance(address, IPv6Address) else f"http://{address}/"


_TRICKS: Final = (
    "http://[::1%25lo]/",
    "http://[::1%lo]/",
    "http://[fe80::1%25eth0]/",
    "http://[fe80::1%251]/",
    "http://[::]:80/",
    "http://[0000:0000:0000:0000:0000:0000:0000:0001]/",
    "http://[::0001]/",
    "http://[::1].public.example/",
    "http://[::1]@public.example/",
    "http://[v1.fe80::1]/",
    "http://[127.0.0.1]/",
    "http://[::1",
    "http://::1/",
    "http://0/",
    "http://0.0/",
    "http://0x0/",
    "http://00/",
    "http://127.1/",
    "http://127.0.1/",
    "http://127.0.0.1.1/",
    "http://0x/",
    "http://1.2.3.0x4/",
    "http://localhost./",
    "http://LOCALHOST/",
    "http://ⓛocalhost/",
    "http://\uff4cocalhost/",
    "http://loc\u00adalhost/",
    "http://bücher.example/",
    "http://LoopBack.Example/",
    "http://loopback.example./",
    "http://loopback.example../",
    "http://loopback..example/",
    "http://.loopback.example/",
    "http://user@loopback.example/",
    "http://:@loopback.example/",
    "http://@loopback.example/",
    "http://user:word@public.example/",
    "http://127.0.0.1#@public.example/",
    "http://127.0.0.1?@public.example/",
    "http://127.0.0.1/@public.example",
    "http://127.0.0.1\t.public.example/",
    "http://127.0.0.1\r\nHost: public.example/",
    "http://127.0.0.1 .public.example/",
    "http://public.example\x00.example/",
    " http://127.0.0.1/",
    "http:/127.0.0.1/",
    "http:127.0.0.1/",
    "http:///127.0.0.1/",
    "http:\\\\127.0.0.1\\",
    "http://\\127.0.0.1/",
    "//127.0.0.1/",
    "127.0.0.1",
    "/etc/passwd",
    "",
    "http://",
    "http://?",
    "http:///",
    "http://:80/",
    "http://%6c%6f%63%61%6c%68%6f%73%74/",
    "http://-public-.example/",
    f"http://{'a' * 64}.example/",
    f"http://{'a.' * 127}example/",
    f"http://public.example/{'a' * 5000}",
)
_PORTS: Final = tuple(
    f"http://public.example:{port}/"
    for port in (
        *(1, 21, 22, 23, 25, 53, 79, 81, 110, 135, 143, 444, 445, 465, 587, 2375, 3306, 5432),
        *(6379, 8000, 8080, 8443, 9200, 11211, 27017, 65535),
        *(
            "0",
            "65536",
            "99999",
            "-1",
            "+80",
            "\uff18\uff10",
            "80a",
            "0x50",
            "80:80",
            " 80",
            "000080",
        ),
    )
)
_SCHEMES: Final = (
    "file:///etc/passwd",
    "file://localhost/etc/passwd",
    "ftp://public.example/",
    "gopher://127.0.0.1:6379/_FLUSHALL",
    "dict://127.0.0.1:11211/stat",
    "ldap://public.example/",
    "tftp://public.example/",
    "sftp://public.example/",
    "jar:http://127.0.0.1!/",
    "data:text/plain,x",
    "javascript:alert(1)",
    "ws://public.example/",
    "wss://public.example/",
    "unix:/var/run/docker.sock",
    "http+unix://%2Fvar%2Frun%2Fdocker.sock/",
    "httpx://public.example/",
    "https+http://public.example/",
    "url:http://127.0.0.1/",
    "view-source:http://127.0.0.1/",
    "netdoc:///etc/passwd",
)

# Addresses of well-known public services and neighbours of what is forbidden.
ORDINARY_4: Final = (
    *("1.1.1.1", "8.8.8.8", "9.9.9.9", "93.184.215.14", "151.101.1.140", "185.199.108.153"),
    *("1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255"),
    *("128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0"),
    *("192.0.3.0", "192.88.98.255", "192.88.100.0", "192.167.255.255", "192.169.0.0"),
    *("198.17.255.255", "198.20.0.0", "203.0.112.255", "203.0.114.0", "223.255.255.255"),
    *("168.63.129.15", "168.63.129.17"),
)
ORDINARY_6: Final = (
    *("2606:4700:4700::1111", "2001:4860:4860::8888", "2620:fe::fe", "2a04:4e42::485"),
    *("2001:200::1", "2001:db7::1", "2001:db9::1", "2003::1", "3ffe:ffff::1", "2400:cb00::1"),
    *("2002:5db8:d70e::1", "64:ff9b::5db8:d70e", "::ffff:93.184.215.14"),
    "2606:4700::5efe:5db8:d70e",
)
ORDINARY_URLS: Final = (
    "http://public.example",
    "https://public.example/",
    "HTTPS://Public.Example/A.JPG",
    "https://public.example:443/a.jpg?w=1&h=2#part",
    "http://public.example:80/~user/a%20b.jpg",
    "https://public.example./a.jpg",
    "https://a-b_c.public.example/%E2%82%AC.jpg",
    "https://bücher.example/straße.jpg?größe=1",
    "https://xn--bcher-kva.example/",
    "https://93.184.215.14/a.jpg",
    "https://[2606:4700:4700::1111]/a.jpg",
    "https://public.example/a@b:c/d?e=f@g",
    "https://public.example?x=1",
    "https://1.public.example/",
    "https://0x7f.example/",
    "https://127.0.0.1.public.example/",
)
