"""Runs one program so that nothing which it started outlives it: a program of its own (`python -I -S launcher.py`).

Standard input holds what is asked, as JSON (`isolation.py` beside this file). The argument is the descriptor of a
pipe, which ends when the program has begun; where it cannot, the pipe first holds the error's number (0 where it is not
the program's), a blank and its words. This process ends as the program did, by the same signal or with the same status,
once everything below it has ended; SIGTERM and the end of its parent end all of it.

Apart from this machine (user, mount, process, IPC and UTS namespaces, see unshare(2)) the program has a root of its
own: an empty file system with the folders that are asked for. It has no capability and cannot get one, and where root
asks it is another user of this machine: much of what root may do, as writing below /proc/sys, asks for no capability.
The kernel's keys are closed to it, since a user's keys are in no namespace. Process 1 there is this file, too, which no
program can look into; when that ends, the kernel ends everything in the namespace. Otherwise this process becomes the
parent of all orphans below it, and ends them. Either way the program has a session keyring of its own.
"""

import ctypes
import errno
import json
import os
import signal
import stat
import struct
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER = 1 << 17, 1 << 26, 1 << 27, 1 << 28
CLONE_NEWPID, CLONE_NEWNET = 1 << 29, 1 << 30
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
MNT_DETACH = 2
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP = 1, 4, 22, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38
SYS_PIVOT_ROOT, SYS_KEYCTL = {"x86_64": (155, 250), "aarch64": (41, 219)}.get(os.uname().machine, (-1, -1))
KEYCTL_JOIN_SESSION_KEYRING = 1
# The numbers of add_key, request_key and keyctl, by the machines for which a processor runs programs (linux/audit.h).
KEY_CALLS: dict[str, dict[int, tuple[int, ...]]] = {
    "x86_64": {0xC000003E: (248, 249, 250, 0x400000F8, 0x400000F9, 0x400000FA), 0x40000003: (286, 287, 288)},
    "aarch64": {0xC00000B7: (217, 218, 219), 0x40000028: (309, 310, 311)},
}
# Of a filter of system calls: load a word of the call, go on where it equals, return (linux/filter.h, linux/seccomp.h).
LOAD, IF_EQUAL, RETURN = 0x20, 0x15, 0x06
NUMBER_OF_CALL, MACHINE = 0, 4
ALLOWED, REFUSED = 0x7FFF0000, 0x00050000 | errno.ENOSYS
SECCOMP_MODE_FILTER = 2
SYS_MOUNT_SETATTR = 442
AT_EMPTY_PATH, AT_RECURSIVE, MOUNT_ATTR_RDONLY = 0x1000, 0x8000, 1
AF_INET, SOCK_DGRAM, SIOCSIFFLAGS, IFF_UP, IFNAMSIZ, SIZE_OF_IFREQ = 2, 2, 0x8914, 1, 16, 40
CAPABILITY_VERSION_3 = 0x20080522
LAST_CAPABILITY = 63
NOBODY = 65534
"""Who programs are there. All others' files are shown as this user's, too, so that NLTK reads data of the machine's: it
takes only what its own user or root has.
"""
STAGE = "/tmp"  # noqa: S108 - a folder that every system has; what lies over it is seen by this process alone
SETTINGS_OF_THE_MACHINE = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi")
"""Files of /proc that change more than a process: read-only there, as containers have it."""
DEVICES = ("null", "zero", "full", "random", "urandom")
STREAMS = {"fd": "", "stdin": "/0", "stdout": "/1", "stderr": "/2"}
WATCHED = {signal.SIGTERM, signal.SIGCHLD}
CANNOT_RUN = 126
KILL_SECONDS = 10.0

_libc = ctypes.CDLL(None, use_errno=True)


def _main(asked: dict[str, Any], report: int) -> NoReturn:
    os.set_inheritable(report, False)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)
    with suppress(OSError):  # a kernel without keys
        _system_call(SYS_KEYCTL, KEYCTL_JOIN_SESSION_KEYRING, None)
    try:
        child, statuses = _apart(asked, report) if asked["apart"] else (_begun(asked, report), None)
    except OSError as error:
        _tell(report, 0, error)
        os._exit(CANNOT_RUN)
    os.close(report)
    _die_with(asked["parent"], signal.SIGTERM)
    status = _followed(child, apart=statuses is not None)
    if statuses is not None:
        status = int(os.read(statuses, 32) or status)
    _end_as(status)


def _begun(asked: dict[str, Any], report: int) -> int:
    """Begin the program below this process, which becomes the parent of all that it leaves."""
    _call("prctl", PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    child = os.fork()
    if child == 0:
        _become(asked, report)
    return child


def _apart(asked: dict[str, Any], report: int) -> tuple[int, int]:
    """Begin the program in namespaces; returns their process 1 and the pipe with the program's own status."""
    network = 0 if asked["network"] else CLONE_NEWNET
    _unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | network, asked["user"])
    statuses, status_end = os.pipe()
    go, go_end = os.pipe()
    first = os.fork()
    if first == 0:
        os.close(statuses)
        os.close(go_end)
        _call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.read(go, 1):  # nothing, where the parent has ended before
            _first(asked, report, status_end)
        os._exit(CANNOT_RUN)
    os.close(status_end)
    os.write(go_end, b"g")
    os.close(go)
    os.close(go_end)
    return first, statuses


def _unshare(namespaces: int, user: int | None) -> None:
    """Enter namespaces, where user and group `NOBODY` are `user` of this machine; None: who runs this.

    Another user's number can only be given from without, by a process that still has the rights of root.
    """
    if user is None:
        user, group = os.geteuid(), os.getegid()
        _call("unshare", namespaces)
        Path("/proc/self/setgroups").write_text("deny")
        _write_maps("self", user, group)
        return
    entered, entered_end = os.pipe()
    here = os.getpid()
    helper = os.fork()
    if helper == 0:
        os.close(entered_end)
        status = CANNOT_RUN
        with suppress(OSError):
            if os.read(entered, 1):
                _write_maps(here, user, user)
                status = 0
        os._exit(status)
    try:
        _call("unshare", namespaces)
        os.write(entered_end, b"e")
    finally:
        os.close(entered_end)
        os.close(entered)
        _, status = os.waitpid(helper, 0)
    if status:
        raise OSError(errno.EPERM, f"root cannot be user {user} there")


def _write_maps(process: int | str, user: int, group: int) -> None:
    Path(f"/proc/{process}/uid_map").write_text(f"{NOBODY} {user} 1")
    Path(f"/proc/{process}/gid_map").write_text(f"{NOBODY} {group} 1")


def _first(asked: dict[str, Any], report: int, status_end: int) -> NoReturn:
    """Process 1: make the root, drop all rights, begin the program, and take the ends of all others until it ends."""
    try:
        opened = _opened(asked["binds"])
        if asked["user"] is not None:
            os.setgroups(())
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            _call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # which ends with the former user
        _make_root(opened, asked["links"])
        if not asked["network"]:
            _bring_up_loopback()
        _drop_rights()
        _close_keys()
        _call("prctl", PR_SET_DUMPABLE, 0, 0, 0, 0)
        program = os.fork()
        if program == 0:
            os.close(status_end)
            _become(asked, report)
    except OSError as error:
        _tell(report, 0, error)
        os._exit(CANNOT_RUN)
    os.close(report)
    for stream in (0, 1, 2):
        os.close(stream)
    while True:
        ended, status = os.wait()
        if ended == program:
            os.write(status_end, str(status).encode())
            os._exit(0)


def _become(asked: dict[str, Any], report: int) -> NoReturn:
    """Be the program; it has a process group of its own, apart from this file's processes."""
    try:
        os.setpgid(0, 0)
        os.chdir(asked["folder"])
        for number in signal.valid_signals():
            with suppress(OSError, ValueError):
                signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.execvp(asked["argv"][0], asked["argv"])  # noqa: S606 - the worker uses no shell either
    except OSError as error:
        _tell(report, error.errno or errno.EIO, error)
    except ValueError as error:  # a zero byte in an argument
        _tell(report, errno.EINVAL, error)
    os._exit(CANNOT_RUN)


def _opened(binds: list[list[str]]) -> list[tuple[int, str, str]]:
    """Descriptors of `binds` (source, target, `ro` or `rw`) and devices, their targets and modes.

    The new file system hides whatever lies below its place, and another user may not come that far.
    """
    for pattern in (*DEVICES, "nvidia*", "dri", "kfd"):
        binds += [[str(path), str(path), "rw"] for path in Path("/dev").glob(pattern)]
    return [(os.open(source, os.O_PATH), target, mode) for source, target, mode in binds]


def _make_root(opened: list[tuple[int, str, str]], links: list[list[str]]) -> None:
    """Make an empty file system the root, with the opened folders and files, and links."""
    _mount("none", "/", None, MS_REC | MS_PRIVATE)
    _mount("tmpfs", STAGE, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755")
    for name in ("proc", "dev/shm", "root"):
        Path(STAGE, name).mkdir(parents=True)
    _mount("tmpfs", f"{STAGE}/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777")  # noqa: S108
    _mount("proc", f"{STAGE}/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    for name in SETTINGS_OF_THE_MACHINE:
        settings = Path(STAGE, "proc", name)
        if settings.exists():
            _mount(str(settings), str(settings), None, MS_BIND)
            _make_read_only(settings)
    for descriptor, target, mode in opened:
        place = Path(STAGE + target)
        place.parent.mkdir(parents=True, exist_ok=True)
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            place.mkdir(exist_ok=True)
        else:
            place.touch()
        _mount(f"/proc/self/fd/{descriptor}", str(place), None, MS_BIND | MS_REC)
        if mode == "ro":
            _make_read_only(place)
        os.close(descriptor)
    for text, target in links:
        place = Path(STAGE + target)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(text)
    for name in STREAMS:
        Path(STAGE, "dev", name).symlink_to(f"/proc/self/fd{STREAMS[name]}")
    os.chdir(STAGE)
    _system_call(SYS_PIVOT_ROOT, b".", b".")
    _call("umount2", b".", MNT_DETACH)
    os.chdir("/")


def _make_read_only(place: Path) -> None:
    """Make a mount and all mounts below it read-only (`mount_setattr(2)`, Linux 5.12)."""
    attributes = (ctypes.c_uint64 * 4)(MOUNT_ATTR_RDONLY, 0, 0, 0)
    descriptor = os.open(place, os.O_PATH)
    flags = AT_EMPTY_PATH | AT_RECURSIVE
    _system_call(SYS_MOUNT_SETATTR, descriptor, b"", flags, ctypes.byref(attributes), ctypes.sizeof(attributes))
    os.close(descriptor)


def _bring_up_loopback() -> None:
    """Let processes there speak to each other at 127.0.0.1, as in a container without a network.

    By the C library: in the new root, modules of the Python that runs this may not be there.
    """
    flags = b"lo".ljust(IFNAMSIZ, b"\0") + IFF_UP.to_bytes(2, sys.byteorder)
    descriptor = _libc.socket(AF_INET, SOCK_DGRAM, 0)
    with suppress(OSError):
        _call("ioctl", descriptor, ctypes.c_ulong(SIOCSIFFLAGS), ctypes.create_string_buffer(flags, SIZE_OF_IFREQ))
    os.close(descriptor)


def _drop_rights() -> None:
    """Give up every capability for good: root's files of this machine are the program's only where they are bound."""
    for capability in range(LAST_CAPABILITY + 1):
        with suppress(OSError):  # there are fewer
            _call("prctl", PR_CAPBSET_DROP, capability, 0, 0, 0)
    _call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    none = (ctypes.c_uint32 * 6)()
    _call("capset", ctypes.byref(header), ctypes.byref(none))


def _close_keys() -> None:
    """Let the kernel answer all calls of its keyrings as one without keys does."""
    filters = []
    for machine, numbers in KEY_CALLS[os.uname().machine].items():
        filters += [(LOAD, 0, 0, MACHINE), (IF_EQUAL, 0, 2 * len(numbers) + 1, machine), (LOAD, 0, 0, NUMBER_OF_CALL)]
        for number in numbers:
            filters += [(IF_EQUAL, 0, 1, number), (RETURN, 0, 0, REFUSED)]
    filters.append((RETURN, 0, 0, ALLOWED))
    program = ctypes.create_string_buffer(b"".join([struct.pack("=HBBI", *one) for one in filters]))
    described = struct.pack("@HP", len(filters), ctypes.addressof(program))
    _call("prctl", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, described, 0, 0)


def _followed(child: int, *, apart: bool) -> int:
    """Wait until the child has ended, or SIGTERM; then end everything below. Returns the child's status."""
    status = signal.SIGTERM.value
    while signal.sigwait(WATCHED) == signal.SIGCHLD:
        status_of = _taken(child)
        if status_of is not None:
            status = status_of
            break
    if apart:
        with suppress(OSError):
            os.kill(child, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(child, 0)  # which the kernel lets end last
        return status
    until = time.monotonic() + KILL_SECONDS
    while _has_children() and time.monotonic() < until:
        for process in _descendants():
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.001)
    return status


def _taken(child: int) -> int | None:
    """Take the ends of all children that have ended; the status of this one, if it is among them."""
    found = None
    with suppress(ChildProcessError):
        while True:
            ended, status = os.waitpid(-1, os.WNOHANG)
            if ended == 0:
                break
            if ended == child:
                found = status
    return found


def _has_children() -> bool:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _descendants() -> list[int]:
    """All processes below this one, by /proc; one whose parent ends meanwhile is found the next time."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError, IndexError, ValueError):
                fields = (entry / "stat").read_bytes().rpartition(b")")[2].split()
                children.setdefault(int(fields[1]), []).append(int(entry.name))
    below, waiting = [], [os.getpid()]
    while waiting:
        found = children.pop(waiting.pop(), [])
        below += found
        waiting += found
    return below


def _end_as(status: int) -> NoReturn:
    if os.WIFSIGNALED(status):
        import resource

        number = os.WTERMSIG(status)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if number not in {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _die_with(parent: int, number: int) -> None:
    _call("prctl", PR_SET_PDEATHSIG, number, 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), number)


def _mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    _call("mount", source.encode(), os.fsencode(target), kind and kind.encode(), flags, data.encode())


def _system_call(number: int, *arguments: object) -> None:
    if number < 0:
        raise OSError(errno.ENOSYS, "this kind of machine is not known here")
    _call("syscall", ctypes.c_long(number), *arguments)


def _call(name: str, *arguments: object) -> None:
    """Call a function of the C library.

    Raises:
        OSError: it fails.
    """
    if getattr(_libc, name)(*arguments) == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _tell(report: int, number: int, error: Exception) -> None:
    words = getattr(error, "strerror", None) or str(error)
    os.write(report, f"{number} {words}".encode(errors="replace"))


if __name__ == "__main__":
    _main(json.load(sys.stdin), int(sys.argv[1]))
