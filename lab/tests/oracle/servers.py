"""The servers that a wrapper is tested between: a source, perhaps a standby of it, a local one.

They listen on sockets alone, in a folder of their own: another server may be given their ports.
"""

import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from oracle.world import LOCAL_SETTINGS, SOURCE_SETTINGS, Instances
from tollfree.cluster import NO_PORT, SUPERUSER, Cluster
from tollfree.ports import reserved_ports
from tollfree.privileges import ServerUser
from tollfree.stage import Stage

BACKUP_LIMIT_S = 120.0
# The rows of a session that has just ended may still be read there.
STANDBY_SETTINGS = {"max_standby_streaming_delay": "-1"}


@contextmanager
def started_instances(
    folder: Path,
    source_stage: Stage,
    local_stage: Stage,
    user: ServerUser,
    *,
    standby: bool = False,
) -> Iterator[Instances]:
    """Start the servers, whose data and sockets are in `folder`; stop them in the end."""
    with ExitStack() as stack:
        source = _make("source", folder, source_stage, user, SOURCE_SETTINGS | STANDBY_SETTINGS)
        local = _make("local", folder, local_stage, user, LOCAL_SETTINGS)
        if standby:
            allow_replication(source)
        # Whoever chooses ports keeps all others waiting: not while data are made.
        with reserved_ports(2) as ports:
            source, local = replace(source, port=ports[0]), replace(local, port=ports[1])
            for cluster in (source, local):
                stack.callback(cluster.stop)
                cluster.start()
        follower = follow(source, folder) if standby else None
        if follower:
            with reserved_ports(1, taken=ports) as (port,):
                follower = replace(follower, port=port)
                stack.callback(follower.stop)
                follower.start()
        yield Instances(source, local, follower)


def _make(
    name: str, folder: Path, stage: Stage, user: ServerUser, settings: dict[str, str]
) -> Cluster:
    cluster = Cluster(
        name,
        folder.with_name(f"{name}-{folder.name}"),
        folder,
        NO_PORT,
        stage,
        user,
        settings=settings,
    )
    cluster.make(secrets.token_urlsafe(12))
    return cluster


def allow_replication(cluster: Cluster) -> None:
    """Let the servers' user take copies of a server that is not running yet."""
    rules = cluster.user.open_file(cluster.data / "pg_hba.conf", os.O_WRONLY | os.O_APPEND)
    with os.fdopen(rules, "a", encoding="utf-8") as file:
        file.write("local replication all trust\n")


def follow(source: Cluster, folder: Path) -> Cluster:
    """Return a standby of a running server, made but not started."""
    standby = Cluster(
        "standby",
        folder.with_name(f"standby-{folder.name}"),
        folder,
        NO_PORT,
        source.stage,
        source.user,
    )
    standby.user.make_folder(standby.folder)
    done = source.user.run(
        [
            str(source.stage.installation.bindir / "pg_basebackup"),
            f"--pgdata={standby.data}",
            f"--host={source.socket_folder}",
            f"--port={source.port}",
            f"--username={SUPERUSER}",
            "--checkpoint=fast",
            "--write-recovery-conf",
        ],
        timeout_s=BACKUP_LIMIT_S,
        env={"PATH": source.stage.search_path},
    )
    if done.returncode != 0:
        raise RuntimeError(f"pg_basebackup failed: {done.stdout}{done.stderr}")
    return standby
