"""`rung read` in a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree as RichTree

from rung import names, units
from rung.insight.forward import Forward, is_drawn, is_emulated
from rung.insight.roofline import Point
from rung.insight.tree import Node, Tree
from rung.show import kernels
from rung.show.fitting import LeftOut, Phrases, point, table
from rung.show.plain import EMULATED, plain
from rung.trace import Kernel, Trace

DRAWN = "drawn from published names and times, not recorded"
MANY = 30
"""Above this many kernels a forward they are gathered by name."""


def report(
    trace: Trace,
    forwards: list[Forward],
    tree: Tree,
    points: Sequence[Point] = (),
    said: Sequence[str] = (),
    *,
    everything: bool = False,
) -> RenderableType:
    """A trace at a glance: what it is, its regions, the first of them kernel by kernel and as a tree.

    `points` are the places of the first one's kernels on the roofline, `said` is what explains them.
    """
    left_out = LeftOut()
    parts: list[RenderableType] = [heading(trace), *warnings(trace), ""]
    if len(forwards) > 1:
        parts += [regions(forwards), ""]
    main = forwards[0]
    parts += [summary(main), ""]
    many = len(main.rows) > MANY and not everything
    if main.rows:
        listed = kernels.in_order(main.rows, points=points, left_out=left_out)
        parts += [kernels.gathered(main.rows, points=points, left_out=left_out) if many else listed, ""]
    parts += [*map(point, said), *([""] if said else [])]
    if many:
        parts += [Text("gathered by name; --all lists every kernel and the chain tree", style="dim")]
    else:
        parts += [chain_tree(tree)]
    parts += [left_out]
    return Group(*parts)


def heading(trace: Trace) -> Phrases:
    where = trace.device or ("no GPU" if trace.stand_in else "device not named")
    return Phrases(
        plain(trace.path, "bold"),
        plain(where),
        Text(DRAWN if is_drawn(trace) else EMULATED if is_emulated(trace) else "", style="yellow"),
        Text(f"rank {trace.rank}" if trace.rank is not None else ""),
        Text(f"{units.duration(trace.span_ns)}, {units.count(trace.events, 'event')}"),
    )


def warnings(trace: Trace) -> Iterator[Text]:
    for warning in trace.warnings:
        where = f" (first at byte {warning.offset})" if warning.offset is not None else ""
        yield plain(f"  {warning.code} x{warning.count}: {warning.message}{where}", "yellow")


def regions(forwards: list[Forward]) -> RenderableType:
    made = table("region", "times", "kernels", "launches", "GPU busy", "CPU", right=(1, 2, 3, 4, 5))
    for forward in forwards:
        made.add_row(
            plain(forward.region),
            str(forward.instances),
            str(forward.kernels),
            str(forward.launches),
            units.duration(forward.gpu_busy_ns.median),
            units.duration(forward.cpu_ns.median),
        )
    return made


def summary(forward: Forward) -> Phrases:
    """`mlp_fwd, median of 3   5 kernels + 2 memsets, 7 launches   GPU 233 µs   CPU 161 µs   GPU idle 3 %`"""
    times = f", median of {forward.instances}" if forward.instances > 1 else ""
    if forward.alike < forward.instances:
        times += f" ({forward.alike} of them ran what is listed)"
    on_gpu = bool(forward.gpu_busy_ns.median)
    return Phrases(
        Text.assemble(plain(forward.region, "bold"), times),
        Text(counts(forward)),
        Text(f"GPU {units.duration(forward.gpu_busy_ns.median)}" if on_gpu else "", style="cyan"),
        Text(f"CPU {units.duration(forward.cpu_ns.median)}"),
        Text(f"GPU idle {units.percent(forward.gpu_idle_share)}" if on_gpu else ""),
    )


def counts(forward: Forward) -> str:
    """`5 kernels + 2 memsets, 7 launches`"""
    parts = [units.count(forward.kernels, "kernel")]
    parts += [
        units.count(n, noun) for n, noun in ((forward.copies, "copy"), (forward.memsets, "memset")) if n
    ]
    launches = f", {units.count(forward.launches, 'launch')}" if forward.launches else ""
    return f"{' + '.join(parts)}{launches}"


def chain_tree(tree: Tree) -> RichTree:
    """Op -> kernel, as nested lines; ops that launch nothing are counted, not drawn."""
    root = RichTree(Text("the way to each kernel", style="dim"), guide_style="dim")
    for node in tree.nodes:
        _add(root, node)
    for kernel in tree.loose:
        root.add(_kernel_line(kernel))
    if tree.launchless:
        root.add(_launchless(tree.launchless))
    return root


def _add(parent: RichTree, node: Node) -> None:
    label, node = _straightened(node)
    times = f"  x{node.times}" if node.times > 1 else ""
    branch = parent.add(plain(f"{label}{times}"))
    for kernel in node.kernels:
        branch.add(_kernel_line(kernel))
    for child in node.children:
        _add(branch, child)
    if node.launchless:
        branch.add(_launchless(node.launchless))


def _straightened(node: Node) -> tuple[str, Node]:
    """Fold a chain of ops that only call one another into one line: `aten::linear > matmul > mm`."""
    label = node.name
    launchless = Counter(node.launchless)
    times = node.times
    while not node.kernels and len(node.children) == 1 and node.children[0].times == 1:
        node = node.children[0]
        label += f" > {node.name.removeprefix('aten::')}"
        launchless.update(node.launchless)
    return label, Node(node.name, node.dur_ns, node.kernels, node.children, launchless, times)


def _kernel_line(kernel: Kernel) -> Text:
    launch = kernel.launch
    via = (
        f"  via {launch.name}"
        if launch is not None
        else ""
        if kernel.category == "op"
        else "  launch not recorded"
    )
    text = plain(names.short(kernel.decoded), "cyan")
    text.append_text(plain(f"  {units.duration(kernel.dur_ns)}{via}", "dim not cyan"))
    return text


def _launchless(ops: Counter[str]) -> Text:
    shown = ", ".join(
        f"{name.removeprefix('aten::')}{f' x{n}' if n > 1 else ''}" for name, n in ops.most_common(8)
    )
    more = ", ..." if len(ops) > 8 else ""
    return plain(f"{units.count(ops.total(), 'op')} launching nothing: {shown}{more}", "dim")
