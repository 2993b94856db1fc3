"""Shows scenes to a person: a live panel on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections import deque

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from lab.demo.scene import COMPONENTS, Scene, story

LINES_SHOWN = 9


def dots(scene: Scene, component: str) -> Text:
    """One dot for each wanted node: · not there, ○ pod ready, ● joined and alive, ★ the leader."""
    text = Text()
    nodes = [member for member in scene.members.values() if member.component == component]
    for member in sorted(nodes, key=lambda node: int(node.pod.rsplit("-", 1)[1])):
        if member.alive:
            text.append("★ " if member.role == "LEADER" else "● ", style="bold green")
        else:
            text.append("○ ", style="yellow" if member.ready else "dim")
    text.append("· " * max(0, scene.wanted.get(component, 0) - len(nodes)), style="dim")
    return text


def joined(scene: Scene, component: str) -> str:
    alive = sum(member.alive for member in scene.members.values() if member.component == component)
    return f"{alive}/{scene.wanted[component]} joined"


class Stage:
    """A context that shows what happens; `show` takes each new look."""

    def __init__(self, console: Console, title: str) -> None:
        self._console = console
        self._title = title
        self._began = time.monotonic()
        self._scene = Scene()
        self._lines: deque[str] = deque(maxlen=LINES_SHOWN)
        self._live = Live(console=console, get_renderable=self._panel, refresh_per_second=8, transient=True)

    def __enter__(self) -> Stage:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._console.is_terminal:
            self._live.stop()
            self._console.print(self._panel())

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._began

    def show(self, scene: Scene) -> None:
        for line in story(self._scene, scene):
            told = f"{self.elapsed:6.1f} s  {line}"
            self._lines.append(told)
            if not self._console.is_terminal:
                self._console.print(told, highlight=False)
        self._scene = scene

    def _panel(self) -> RenderableType:
        table = Table.grid(padding=(0, 2))
        for component in self._scene.wanted:
            table.add_row(COMPONENTS[component], dots(self._scene, component), joined(self._scene, component))
        waiting = Text("\n".join(f"waiting: {text}" for text in self._scene.waiting_for[:2]), style="yellow")
        body = Group(table, Text(), Text("\n".join(self._lines), style="dim"), waiting)
        style = "green" if self._scene.finished else "blue"
        subtitle = f"{self._scene.phase} · {self.elapsed:.1f} s"
        return Panel(body, title=self._title, subtitle=subtitle, border_style=style)
