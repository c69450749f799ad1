"""``autofuse.set_num_threads``: how many threads kernels use, for the whole process."""

from autofuse_runtime.cache import ArtefactCache
from autofuse_runtime.extension import load_extension
from autofuse_runtime.pool import start

from autofuse.errors import DriverError
from autofuse.options import settings


def set_num_threads(threads: int) -> None:
    """Let kernels use ``threads`` threads (at least 1) from the next call on; models compiled earlier included.

    Models compiled or loaded later keep the number unless ``AUTOFUSE_NUM_THREADS`` says otherwise. Raises
    ``ToolMissingError`` where there is no compiler: the interpreter has no threads.
    """
    if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
        raise DriverError(
            f"the number of threads is {threads!r}", where="set_num_threads", fix="give a whole number from 1 up"
        )
    start(load_extension(ArtefactCache(settings().cache)), threads)
