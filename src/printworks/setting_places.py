"""The first settings: where the service is, who runs it, and where it finds what it needs."""

from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from printworks.setting_values import SECRET

Port = Annotated[int, Meta(ge=1, le=65535)]


class DeclaredPlaces(msgspec.Struct, frozen=True, kw_only=True):
    """Its addresses and its operator, the database, the files, certificates and mail."""

    data: Annotated[Path, "The data folder (`--data`)."]
    environment: Annotated[
        Literal["sandbox", "live"],
        "`sandbox` prints nothing and charges nothing; `live` does both.",
    ] = "sandbox"
    host: Annotated[str, "The address to listen on."] = "127.0.0.1"
    port: Annotated[Port, "The port to listen on, HTTPS only."] = 8443
    public_url: Annotated[
        str, "The address that merchants use; by default `https://localhost:<port>`."
    ] = ""
    database_url: Annotated[
        str,
        SECRET,
        "`sqlite:////path/to/file` or `postgresql://user:password@host/name`; "
        "by default `printworks.db` in the data folder.",
    ] = ""
    files: Annotated[
        str,
        "Where pictures are stored: a folder, or `s3://bucket/folder`; "
        "by default `files` in the data folder.",
    ] = ""
    secret_key_file: Annotated[
        Path | None,
        "The file with the keys that encrypt the secrets in the database; by default `secret.key` "
        "in the data folder. Several machines need the same one; see [running](running.md#secrets).",
    ] = None
    s3_endpoint: Annotated[
        str,
        "Address of an S3-compatible server, for files and for backups; by default that of AWS.",
    ] = ""
    s3_region: Annotated[
        str, "Region of the bucket; by default `AWS_REGION`, else `us-east-1`."
    ] = ""
    s3_access_key_id: Annotated[
        str,
        "The access key for S3; by default the credentials that AWS gives this machine or container.",
    ] = ""
    s3_secret_access_key: Annotated[str, SECRET, "The secret key of `s3_access_key_id`."] = ""
    tls_cert: Annotated[
        Path | None, "Certificate chain (PEM); by default a local CA issues one."
    ] = None
    tls_key: Annotated[Path | None, "Private key (PEM) of `tls_cert`."] = None
    behind_proxy: Annotated[
        str,
        "Listen here with plain HTTP, for a proxy on this machine that terminates TLS: "
        "`unix:/path/to.sock` or `127.0.0.1:8080`.",
    ] = ""
    security_contact: Annotated[
        str,
        Meta(max_length=200),
        "Where to report vulnerabilities: `mailto:` with an address, or an `https://` page. "
        "It is published at `/.well-known/security.txt`.",
    ] = ""
    operator_name: Annotated[
        str,
        Meta(min_length=1, max_length=100),
        "Who runs this service, as merchants and recipients know them: emails name it.",
    ] = "Printworks"
    smtp_host: Annotated[
        str,
        "The mail server. Without one no mail is sent, and links are shown to operators; "
        "see [mail](mail.md).",
    ] = ""
    smtp_port: Annotated[
        Port, "The port of the mail server: usually 587, or 465 with `smtp_security = tls`."
    ] = 587
    smtp_security: Annotated[
        Literal["starttls", "tls", "none"],
        "How the connection to the mail server is encrypted: `starttls` insists on it after the "
        "first words, `tls` from the beginning; `none` is for a server on this machine or network.",
    ] = "starttls"
    smtp_ca: Annotated[
        Path | None,
        "The certificate (PEM) that signed that of the mail server; by default one that this "
        "machine trusts.",
    ] = None
    smtp_user: Annotated[str, "The user at the mail server, if it asks for one."] = ""
    smtp_password: Annotated[str, SECRET, "The password of `smtp_user`."] = ""
    mail_from: Annotated[
        str, "The address from which mail is sent, such as `service@print.example`."
    ] = ""
    mail_from_name: Annotated[
        str, Meta(max_length=100), "The name beside it; by default `operator_name`."
    ] = ""
    mail_reply_to: Annotated[
        str, "The address to which people reply; by default the one from which mail is sent."
    ] = ""
    mail_language: Annotated[
        Literal["en", "de", "fr", "es"],
        "The language of emails to operators, and to merchants that have not chosen one.",
    ] = "en"
