"""TLS on a private server: a certificate of its own making, and what is agreed with it.

The certificate is its own authority, so a client that is given the file can check the server
without trusting anything else. Offering TLS changes nothing for those who connect without it.
"""

import hashlib
import ssl
import time
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from tollfree.cluster import SUPERUSER, Cluster
from tollfree.errors import EnvironmentLacksError
from tollfree.ports import LOOPBACK

VALID_DAYS = 3650
RELOAD_LIMIT_S = 10.0


def certificate_of(cluster: Cluster) -> Path | None:
    """Return the certificate of a server that has been made to offer TLS, or None."""
    path = _certificate(cluster)
    return path if path.exists() else None


def _certificate(cluster: Cluster) -> Path:
    return cluster.folder / "tls" / "server.crt"


def offer_tls(cluster: Cluster) -> Path:
    """Have a running server offer TLS, now and after every start; return its certificate.

    Raises `EnvironmentLacksError` when this PostgreSQL or this machine cannot.
    """
    path = _certificate(cluster)
    if not path.exists():
        served, key = path.with_name("served.crt"), path.with_suffix(".key")
        _make_certificate(cluster, served, key)
        try:
            _configure(cluster, served, key)
        except psycopg.Error as error:
            raise EnvironmentLacksError(
                f"PostgreSQL {cluster.stage.installation.version} offers no TLS: {error}",
                "Use a PostgreSQL that was built with OpenSSL.",
            ) from error
        # What clients are given is a copy, and the sign that all is done.
        cluster.user.copy_file(served, path)
    _wait_for_tls(cluster)
    return path


def _make_certificate(cluster: Cluster, path: Path, key: Path) -> None:
    cluster.user.make_folder(path.parent)
    try:
        done = cluster.user.run(
            [
                *("openssl", "req", "-x509", "-nodes", "-days", str(VALID_DAYS)),
                *("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"),
                *("-subj", "/CN=localhost"),
                *("-addext", f"subjectAltName=DNS:localhost,IP:{LOOPBACK}"),
                *("-keyout", str(key), "-out", str(path)),
            ],
            timeout_s=60,
        )
    except OSError as error:
        raise EnvironmentLacksError(
            "no certificate can be made: there is no openssl", "Install it: apt-get install openssl"
        ) from error
    if done.returncode != 0:
        raise EnvironmentLacksError(
            "openssl could not make a certificate",
            "See what it said.",
            detail=done.stderr.strip()[-2000:],
        )


def _configure(cluster: Cluster, certificate: Path, key: Path) -> None:
    values = {"ssl_cert_file": certificate, "ssl_key_file": key, "ssl": "on"}
    with cluster.connect() as connection:
        for name, value in values.items():
            connection.execute(
                sql.SQL("ALTER SYSTEM SET {} = {}").format(
                    sql.Identifier(name), sql.Literal(str(value))
                )
            )
        connection.execute("SELECT pg_reload_conf()")


def _wait_for_tls(cluster: Cluster) -> None:
    """A reload happens when the server gets round to it."""
    deadline = time.monotonic() + RELOAD_LIMIT_S
    while True:
        try:
            _connect(cluster).close()
            return
        except psycopg.OperationalError as error:
            if time.monotonic() > deadline:
                raise EnvironmentLacksError(
                    f"the server {cluster.name} does not talk TLS: {error}",
                    f"See its log {cluster.log}.",
                ) from error
            time.sleep(0.05)


def _connect(cluster: Cluster) -> psycopg.Connection[Any]:
    return psycopg.connect(
        host=LOOPBACK,
        port=cluster.port,
        user=SUPERUSER,
        password=cluster.password_file.read_text(),
        dbname="postgres",
        sslmode="verify-ca",
        sslrootcert=str(_certificate(cluster)),
        connect_timeout=10,
    )


def tls_facts(cluster: Cluster) -> dict[str, str] | None:
    """Return what tells this server's TLS from another's, or None when it offers none."""
    path = certificate_of(cluster)
    if path is None:
        return None
    certificate = ssl.PEM_cert_to_DER_cert(path.read_text())
    with _connect(cluster) as connection:
        agreed = connection.execute(
            "SELECT version, cipher FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
        ).fetchone()
    version, cipher = agreed or ("unknown", "unknown")
    return {
        "certificate_sha256": hashlib.sha256(certificate).hexdigest(),
        "key": "P-256",
        "version": str(version),
        "cipher": str(cipher),
    }
