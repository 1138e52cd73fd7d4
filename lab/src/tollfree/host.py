"""What a measurement was made on: the machine's fingerprint and the servers' settings."""

import hashlib
import os
import platform
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tollfree.cluster import Cluster
from tollfree.history import commit
from tollfree.stage import Stage
from tollfree.tls import tls_facts

SETTINGS_QUERY = """
SELECT name, current_setting(name) AS value
FROM pg_settings
WHERE source NOT IN ('default', 'override', 'client', 'session')
  AND name !~ '_directory$|_file$|^(port|unix_socket_directories|listen_addresses)$'
ORDER BY name
"""

DURABILITY_QUERY = """
SELECT bool_and(setting = 'on') FROM pg_settings
WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit')
"""


def _first_match(path: str, key: str) -> str:
    try:
        with Path(path).open(encoding="utf-8") as lines:
            for line in lines:
                name, _, value = line.partition(":")
                if name.strip() == key:
                    return value.strip()
    except OSError:
        pass
    return "unknown"


def is_virtual(cpuinfo: str) -> bool | None:
    """Return whether /proc/cpuinfo tells of a hypervisor; None where it has no flags to tell by,
    as on arm64."""
    flags = re.search(r"^flags\s*:(.*)$", cpuinfo, re.MULTILINE)
    return None if flags is None else "hypervisor" in flags[1].split()


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return "unknown"


def _filesystem(path: Path) -> str:
    """Return the type of the file system that holds `path`."""
    best, kind = "", "unknown"
    for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines():
        _, mount_point, fs_type = line.split()[:3]
        if path.is_relative_to(mount_point) and len(mount_point) > len(best):
            best, kind = mount_point, fs_type
    return kind


def fingerprint(data: Path) -> dict[str, Any]:
    """Return what identifies this machine's speed, and the checkout; `data` is where the servers'
    data lie."""
    virtual = is_virtual(Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    return {
        "cpu": _first_match("/proc/cpuinfo", "model name"),
        "cores": len(os.sched_getaffinity(0)),
        "memory_kb": int(_first_match("/proc/meminfo", "MemTotal").split()[0]),
        "kernel": platform.release(),
        "system": _distribution(),
        "architecture": platform.machine(),
        "file_system": _filesystem(data.resolve()),
        "virtual": "unknown" if virtual is None else virtual,
        "load_average": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "commit": commit() or "unknown",
    }


def module_hashes(stage: Stage, names: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256, by name, of those of the names that are modules of this PostgreSQL."""
    modules = {name: stage.pkglibdir / f"{name}.so" for name in sorted(set(names))}
    return {
        name: hashlib.sha256(module.read_bytes()).hexdigest()
        for name, module in modules.items()
        if module.is_file()
    }


def server_settings(cluster: Cluster) -> dict[str, Any]:
    """Return the version of a running server, its durability, its TLS, and every setting that is
    not PostgreSQL's default (addresses and places aside)."""
    with cluster.connect() as connection:
        version = connection.execute("SHOW server_version").fetchone()
        durable = connection.execute(DURABILITY_QUERY).fetchone()
        settings = connection.execute(SETTINGS_QUERY).fetchall()
    return {
        "version": str(version[0]) if version else "unknown",
        "durable": bool(durable and durable[0]),
        "tls": tls_facts(cluster),
        "settings": {str(name): str(value) for name, value in settings},
    }
