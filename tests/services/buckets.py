"""A server that speaks S3 in this process, for the tests of files in buckets."""

from __future__ import annotations

from contextlib import contextmanager

import pyarrow as pa
import pyarrow.fs
import pytest
from rankscope._inputs.remote import open_filesystem


@contextmanager
def serve_bucket(patch, name):
    """Serve a bucket, of which the environment says where it is, as for the tools of AWS.

    Yields:
        The file system.
    """
    moto = pytest.importorskip("moto.server", reason="it is in make test-services")
    server = moto.ThreadedMotoServer("127.0.0.1", 0)
    server.start()
    host, port = server.get_host_and_port()
    patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    patch.setenv("AWS_ACCESS_KEY_ID", "key")
    patch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    patch.setenv("AWS_REGION", "us-east-1")
    open_filesystem.cache_clear()
    system = pa.fs.S3FileSystem(
        endpoint_override=f"http://{host}:{port}",
        allow_bucket_creation=True,
        allow_bucket_deletion=True,
        region="us-east-1",
    )
    system.create_dir(name)
    yield system
    open_filesystem.cache_clear()
    system.delete_dir(name)
    server.stop()
