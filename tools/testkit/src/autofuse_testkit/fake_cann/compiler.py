"""The stand-in of CANN's compiler: takes the flags that AutoFuse gives, and makes what the emulator can launch."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

SOCS = {"dav-2201": "ascend-a2", "dav-3510": "ascend-350"}
LAUNCH = re.compile(r"(\w+)<<<blockDim, nullptr, stream>>>\((.*), \*tiling_data\);")
ARGUMENT = re.compile(r"static_cast<GM_ADDR>\((\w+)\)")


def main(home: Path, arguments: list[str]) -> None:
    """Compile or link, as ``arguments`` say."""
    with (home / "log").open("a") as log:
        log.write(f"bisheng {' '.join(arguments)}\n")
    if arguments == ["--version"]:
        print("stand-in for the compiler of CANN")
        return
    target = Path(arguments[arguments.index("-o") + 1])
    if "-c" in arguments:
        compile_launch(Path(arguments[arguments.index("-c") + 1]), target, arguments)
    else:
        link(home, Path(next(a for a in arguments if a.endswith(".o"))), target, arguments)


def compile_launch(source: Path, target: Path, arguments: list[str]) -> None:
    """Compile the kernel for the emulator, and the launch to a call of the runtime library."""
    assert arguments[arguments.index("-x") + 1] == "asc"
    soc = SOCS[next(a for a in arguments if a.startswith("--npu-arch=")).partition("=")[2]]
    flags = [a for a in arguments if a.startswith(("-I", "-D", "-O", "-std"))]
    text = source.read_text()
    kernel = source.name.removesuffix("_launch.cpp")
    (call,) = LAUNCH.finditer(text)
    entry, names = call[1], ARGUMENT.findall(call[2])
    wrapper = target.with_name(f"{kernel}_wrapped.cpp")
    given = ", ".join(f"GM_ADDR p{i}" for i in range(len(names)))
    passed = ", ".join(f"p{i}" for i in range(len(names)))
    wrapper.write_text(
        f'#include "{kernel}.cpp"\n'
        f'extern "C" __global__ __aicore__ void wrapped_{entry}({given}, GM_ADDR t) {{\n'
        f"  {entry}({passed}, *reinterpret_cast<AfTiling_{kernel}*>(t));\n}}\n"
    )
    import autofuse_ascend_sim as sim  # noqa: PLC0415 - a call that only asks for the version does not need it

    includes = [Path(f[2:]) for f in flags if f.startswith("-I")]
    sim.compile(wrapper, soc, output=target.with_suffix(".emulated.so"), include_dirs=includes)
    host = target.with_name(f"{kernel}_launch_host.cpp")
    replaced = (
        f"void* pointers[] = {{{', '.join(names)}}};\n"
        f'  return fake_launch(own_library().c_str(), "{soc}", "wrapped_{entry}", blockDim, stream, '
        f"pointers, {len(names)}, tiling_data, sizeof(*tiling_data));"
    )
    body = text.replace(call[0], replaced).replace(
        f'#include "{kernel}.cpp"', PREAMBLE + f'#include "{kernel}_tiling_data.h"'
    )
    host.write_text(body)
    subprocess.run(["g++", "-fPIC", *flags, "-c", str(host), "-o", str(target)], check=True)


PREAMBLE = """#include <dlfcn.h>
#include <cstddef>
#include <cstdint>
#include <string>
extern "C" int64_t fake_launch(const char* library, const char* soc, const char* entry, uint32_t block_dim,
                               void* stream, void** pointers, int count, const void* tiling, size_t bytes);
static std::string own_library() {
  Dl_info found;
  dladdr(reinterpret_cast<void*>(&own_library), &found);
  return std::string(found.dli_fname) + ".emulated";
}
"""


def link(home: Path, source: Path, target: Path, arguments: list[str]) -> None:
    """Link the launch, and put the emulated kernel beside it."""
    assert "-shared" in arguments
    library = home / "lib64"
    flags = ["-shared", str(source), "-o", str(target), f"-L{library}", f"-Wl,-rpath,{library}", "-lascendcl", "-ldl"]
    subprocess.run(["g++", *flags], check=True)
    shutil.copy(source.with_suffix(".emulated.so"), f"{target}.emulated")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
