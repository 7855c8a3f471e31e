"""Settings: where a value comes from, and the sentence for a wrong one."""

from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import make_url

from printworks.settings import BadSetting, Settings, format_duration, parse_duration


def test_the_defaults_work_on_a_laptop(tmp_path: Path) -> None:
    settings = Settings.load(tmp_path, {})

    assert settings.environment == "sandbox"
    assert settings.host == "127.0.0.1"
    assert settings.public_url == "https://localhost:8443"
    assert settings.database_url == f"sqlite:///{tmp_path}/printworks.db"
    assert settings.worker_lease == timedelta(seconds=30)
    assert settings.stripe_url == "https://api.stripe.com"
    assert settings.payment_timeout == timedelta(seconds=30)


def test_a_value_from_the_file_replaces_the_default(tmp_path: Path) -> None:
    (tmp_path / "printworks.toml").write_text('port = 9443\nstop_timeout = "5m"\n')

    settings = Settings.load(tmp_path, {})

    assert settings.public_url == "https://localhost:9443"
    assert settings.stop_timeout == timedelta(minutes=5)


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    (tmp_path / "printworks.toml").write_text("port = 9443\nweb_threads = 7\n")

    settings = Settings.load(tmp_path, {"PRINTWORKS_PORT": "9444", "HOME": "/somewhere"})

    assert settings.port == 9444
    assert settings.web_threads == 7


def test_an_empty_variable_counts_as_not_set(tmp_path: Path) -> None:
    settings = Settings.load(tmp_path, {"PRINTWORKS_PORT": "", "PRINTWORKS_TLS_CERT": ""})

    assert settings.port == 8443
    assert settings.tls_cert is None


def test_a_relative_path_starts_in_the_data_folder(tmp_path: Path) -> None:
    environ = {"PRINTWORKS_TLS_CERT": "own.pem", "PRINTWORKS_TLS_KEY": "/etc/own-key.pem"}

    settings = Settings.load(tmp_path, environ)

    assert settings.tls_cert == tmp_path / "own.pem"
    assert settings.tls_key == Path("/etc/own-key.pem")


def test_a_secret_can_come_from_a_file(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("postgresql://somebody:hush@database/printworks\n")

    settings = Settings.load(tmp_path, {"PRINTWORKS_DATABASE_URL_FILE": str(secret)})

    assert settings.database_url == "postgresql+psycopg://somebody:hush@database/printworks"
    assert "hush" not in repr(settings)


@pytest.mark.parametrize(
    ("files", "place"),
    [
        ("", "{data}/files"),
        ("pictures/", "{data}/pictures"),
        ("/mnt/pictures", "/mnt/pictures"),
        ("s3://bucket", "s3://bucket"),
        ("s3://my.bucket-1/Some/folder_2/", "s3://my.bucket-1/Some/folder_2"),
    ],
)
def test_files_are_in_the_data_folder_unless_another_place_is_named(
    tmp_path: Path, files: str, place: str
) -> None:
    settings = Settings.load(tmp_path, {"PRINTWORKS_FILES": files})

    assert settings.files == place.format(data=tmp_path)


def test_a_sandbox_may_use_another_stripe(tmp_path: Path) -> None:
    environ = {
        "PRINTWORKS_STRIPE_URL": "http://127.0.0.1:12111",
        "PRINTWORKS_PAYMENT_TIMEOUT": "5s",
    }

    settings = Settings.load(tmp_path, environ)

    assert settings.stripe_url == "http://127.0.0.1:12111"
    assert settings.payment_timeout == timedelta(seconds=5)


@pytest.mark.parametrize(
    ("host", "public_url"),
    [
        ("0.0.0.0", "https://localhost:8443"),
        ("::1", "https://localhost:8443"),
        ("192.0.2.7", "https://192.0.2.7:8443"),
        ("2001:db8::7", "https://[2001:db8::7]:8443"),
        ("print.example", "https://print.example:8443"),
    ],
)
def test_the_public_address_follows_the_host(tmp_path: Path, host: str, public_url: str) -> None:
    settings = Settings.load(tmp_path, {"PRINTWORKS_HOST": host})

    assert settings.public_url == public_url


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("PORT", "seven", "a whole number from 1 to 65535, not 'seven'"),
        ("PORT", "65536", "a whole number from 1 to 65535, not '65536'"),
        ("WEB_PROCESSES", "0", "a whole number from 1 to 256, not '0'"),
        ("ENVIRONMENT", "test", "`sandbox` or `live`, not 'test'"),
        ("LOG_LEVEL", "loud", "`debug`, `info`, `warning` or `error`, not 'loud'"),
        ("BODY_TIMEOUT", "10", "a duration such as 30s, 10m, 24h or 30d, not '10'"),
        ("BODY_TIMEOUT", "0s", "a duration such as 30s, 10m, 24h or 30d, not '0s'"),
        ("HOST", "https://x", "a host name or an IP address without a port, not 'https://x'"),
        ("PUBLIC_URL", "http://x", "an address such as `https://print.example` without a path"),
        ("HEADER_PREFIX", "X Y", "letters, digits and hyphens, not 'X Y'"),
        ("CATALOGUE_NAME", "x" * 101, "text of 1 to 100 characters"),
        ("BEHIND_PROXY", "0.0.0.0:80", "`unix:/path/to.sock` or a loopback address such as"),
        ("DATABASE_URL", "mysql://root:hush@x/y", "an address such as `sqlite:////path"),
        ("DATABASE_URL", "postgresql://u:hush@x:543a/y", "an address such as `sqlite:////path"),
        ("DATABASE_URL", "postgresql://u:hush@x:1,z:2/y", "an address such as `sqlite:////path"),
        ("DATABASE_URL", "postgresql://u:hu@sh@x/y", "an address such as `sqlite:////path"),
        ("DATABASE_URL", "postgresql://[::1/y", "an address such as `sqlite:////path/to/file` or"),
        ("DATABASE_URL", "postgresql://", "an address such as `sqlite:////path/to/file` or"),
        ("FILES", "gs://bucket", "a path or an address such as `s3://bucket/folder`, not 'gs:"),
        ("FILES", "s3://", "a path or an address such as `s3://bucket/folder`, not 's3://'"),
        ("FILES", "s3://bucket/../x", "a path or an address such as `s3://bucket/folder`"),
        ("S3_ENDPOINT", "s3.example", "an address such as `https://s3.example:9000` without"),
        ("S3_ENDPOINT", "https://a:b@x", "an address such as `https://s3.example:9000` without"),
        ("S3_SECRET_ACCESS_KEY", "hu sh", "text without blanks."),
        ("PAYMENT_TIMEOUT", "0s", "a duration such as 30s, 10m, 24h or 30d, not '0s'"),
    ],
)
def test_a_wrong_value_is_explained_in_one_sentence(
    tmp_path: Path, name: str, value: str, allowed: str
) -> None:
    with pytest.raises(BadSetting) as refused:
        Settings.load(tmp_path, {f"PRINTWORKS_{name}": value})

    sentence = str(refused.value)
    assert sentence.startswith(f"PRINTWORKS_{name} must be {allowed}")
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert "hush" not in sentence


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("u:a%2Fb%40c@x.example:5433/y", ("u", "a/b@c", "x.example", 5433, "y")),
        ("u@server:a/b:c?d@x/y?sslmode=require", ("u@server", "a/b:c?d", "x", None, "y")),
        ("[::1]:5433/y", (None, None, "::1", 5433, "y")),
        ("/y?host=/run/postgresql", (None, None, None, None, "y")),
        ("x", (None, None, "x", None, None)),
    ],
)
def test_an_address_of_a_database_is_taken_apart_as_it_is_meant(
    tmp_path: Path, address: str, parts: tuple[object, ...]
) -> None:
    settings = Settings.load(tmp_path, {"PRINTWORKS_DATABASE_URL": f"postgresql://{address}"})

    url = make_url(settings.database_url)
    assert (url.username, url.password, url.host, url.port, url.database) == parts


MAIL = {"SMTP_HOST": "mail.example", "MAIL_FROM": "service@print.example"}


@pytest.mark.parametrize(
    ("environ", "sentence"),
    [
        ({"TLS_CERT": "a.pem"}, "`tls_cert` and `tls_key` belong together"),
        ({"ENVIRONMENT": "live"}, "A live service needs `public_url`"),
        ({"SECOND_FACTOR_FOR": "admin, boss"}, "`second_factor_for` can have admin, support"),
        ({"REMINDER_DAYS": "3, 10, ten"}, "`reminder_days` must be up to nine numbers"),
        ({"REMINDER_DAYS": "3, 10, 10"}, "each more than the one before"),
        ({"REMINDER_DAYS": "0, 10"}, "from 1 to 999"),
        ({"BEHIND_PROXY": "127.0.0.1:80", "HOST": "0.0.0.0"}, "`host` must stay a loopback"),
        (
            {"BEHIND_PROXY": "unix:/x.sock", "TLS_CERT": "a", "TLS_KEY": "b"},
            "`behind_proxy` leaves TLS to the proxy",
        ),
        ({"BODY_TIMEOUT": "2m"}, "`body_timeout` must not be longer than `request_timeout`."),
        (
            {"DATABASE_URL": "sqlite:////x", "DATABASE_URL_FILE": "/y"},
            "PRINTWORKS_DATABASE_URL and PRINTWORKS_DATABASE_URL_FILE are both set",
        ),
        (
            {"FILES": "s3://bucket", "S3_ACCESS_KEY_ID": "x"},
            "`s3_access_key_id` and `s3_secret_access_key` belong together",
        ),
        ({"DATABASE_URL_FILE": "/nowhere"}, "names a file that cannot be read"),
        ({"PAYMENT_ANSWER_WITHIN": "9m"}, "must be at least ten minutes"),
        ({"SMTP_HOST": "mail.example"}, "`smtp_host` and `mail_from` belong together"),
        ({"MAIL_FROM": "a@b.example"}, "`smtp_host` and `mail_from` belong together"),
        ({"SMTP_PORT": "25"}, "set `smtp_host`"),
        ({**MAIL, "SMTP_USER": "x"}, "`smtp_user` and `smtp_password` belong together"),
        (
            {**MAIL, "SMTP_USER": "x", "SMTP_PASSWORD": "hush", "SMTP_SECURITY": "none"},
            "`smtp_password` must not be sent without encryption",
        ),
        ({"OPERATOR_NAME": "Fox\nBcc: x"}, "must be printable characters"),
        ({"STRIPE_URL": "stripe.example"}, "`stripe_url` must be an address such as"),
        ({"STRIPE_URL": "https://stripe.example/v1"}, "`stripe_url` must be an address such as"),
        (
            {
                "ENVIRONMENT": "live",
                "PUBLIC_URL": "https://print.example",
                "PAYMENTS": "account",
                "STRIPE_URL": "https://stripe.example",
            },
            "A live service asks Stripe itself: another `stripe_url` is for a sandbox.",
        ),
    ],
)
def test_settings_that_contradict_each_other_are_refused(
    tmp_path: Path, environ: dict[str, str], sentence: str
) -> None:
    with pytest.raises(BadSetting) as refused:
        Settings.load(tmp_path, {f"PRINTWORKS_{name}": value for name, value in environ.items()})

    assert sentence in str(refused.value)


def test_backups_may_go_to_s3_where_files_do_not(tmp_path: Path) -> None:
    settings = Settings.load(tmp_path, {"PRINTWORKS_S3_ENDPOINT": "https://x"})

    assert settings.files == str(tmp_path / "files")
    assert settings.s3_endpoint == "https://x"


def test_an_unknown_variable_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(BadSetting) as refused:
        Settings.load(tmp_path, {"PRINTWORKS_WEB_PROCESS": "2"})

    assert str(refused.value) == "PRINTWORKS_WEB_PROCESS is not a setting (`web_processes` is)."


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("colour = 1", "sets `colour`, which is not a setting"),
        ('data = "x"', "sets `data`, which is not a setting"),
        ("port = ", "cannot be read: Invalid value"),
        ("port = true", "must be a whole number from 1 to 65535, not True."),
        ("port = [1]", "must be a whole number from 1 to 65535, not [1]."),
        ("stop_timeout = 20", "must be a duration such as 30s, 10m, 24h or 30d, not 20."),
    ],
)
def test_a_wrong_file_is_explained_with_its_path(
    tmp_path: Path, content: str, sentence: str
) -> None:
    (tmp_path / "printworks.toml").write_text(content)

    with pytest.raises(BadSetting) as refused:
        Settings.load(tmp_path, {})

    assert sentence in str(refused.value)
    assert str(tmp_path / "printworks.toml") in str(refused.value)


@given(st.timedeltas(min_value=timedelta(seconds=1), max_value=timedelta(days=11)))
def test_a_duration_is_read_as_it_is_written(duration: timedelta) -> None:
    whole = timedelta(seconds=int(duration.total_seconds()))

    assert parse_duration(format_duration(whole)) == whole


def test_reminder_days_are_read_in_turn(tmp_path: Path) -> None:
    load = partial(Settings.load, tmp_path)

    assert load({}).reminder_steps == ()
    assert load({"PRINTWORKS_REMINDER_DAYS": " 3,10 , 21"}).reminder_steps == (3, 10, 21)
