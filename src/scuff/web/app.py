"""The app: answers requests by the playground, in threads, so that the event loop stays free."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from functools import partial
from html import escape
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from ..isolation import reason_of
from ..reports.page import TEMPLATES
from .attacks import AttackJob, AttackJobs
from .clock import Clock, Stopped
from .guard import LARGEST, Guard
from .messages import AttackRequest, PerturbRequest, PredictRequest, Refused, ShieldRequest, read
from .openapi import ENDPOINTS, document, rows
from .playground import Playground
from .runs import RunsFolder

STATIC = Path(__file__).with_name("static")
AT_ONCE = 8  # requests that are worked on
STREAMS = 16  # attacks that are watched
SECONDS = 30.0  # that the work of a request may take
GRACE = 1.0  # seconds after which a thread that cannot look at its clock is no longer waited for
SLOWEST = 10.0  # seconds in which a request must have come
BEAT = 0.03  # seconds between two looks for events
SILENCE = 10.0  # seconds after which a comment shows that a stream of events is alive

# a report may run its own script and nothing else: it has no origin, so that it cannot ask this server
REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

T = TypeVar("T")
Say = Callable[[str], None]
Handler = Callable[[Request], Awaitable[Response]]


class App:
    """The handlers. say: called with what went wrong in Scuff itself. closing: tells whether the server is about to end."""

    def __init__(
        self, playground: Playground, runs: RunsFolder, say: Say, closing: Callable[[], bool] = lambda: False
    ) -> None:
        self.playground, self.runs_folder, self.say, self.closing = playground, runs, say, closing
        self.jobs = AttackJobs(playground)
        self.busy = self.watched = 0

    def guarded(self, host: str, token: str | None) -> Guard:
        """Returns the app behind its guard."""
        handlers: dict[str, dict[str, Handler]] = {}
        for end in ENDPOINTS:
            handlers.setdefault(end.path, {})[end.method] = getattr(self, end.name)
        routes = [
            Route(path, partial(_by_method, methods), methods=list(methods)) for path, methods in handlers.items()
        ]
        routes += [
            Route("/", partial(self.file, STATIC / "page.html")),
            Route("/docs", self.docs),
            Route("/openapi.json", self.openapi),
            *(Route(f"/{name}", partial(self.file, STATIC / name)) for name in ("page.js", "page.css", "icon.svg")),
            Route("/style.css", partial(self.file, TEMPLATES / "style.css")),
            Route("/compare", self.compare),
            Route("/runs/{run:path}/{page}", self.report),
        ]
        refusing: Any = {HTTPException: _unknown, Refused: _refused, Exception: self._failed}
        return Guard(Starlette(routes=routes, exception_handlers=refusing), host, token)

    # pages

    async def file(self, path: Path, request: Request) -> Response:
        kinds = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
        return Response(path.read_bytes(), media_type=kinds[path.suffix])

    async def docs(self, request: Request) -> Response:
        page = (STATIC / "docs.html").read_text(encoding="utf-8")
        return Response(page.replace("<!-- rows -->", rows()), media_type="text/html")

    async def openapi(self, request: Request) -> Response:
        return _json(document(self.playground.choices))

    async def report(self, request: Request) -> Response:
        run, page = request.path_params["run"], request.path_params["page"]
        return await self._worked(request, lambda clock: self.runs_folder.page(run, page), _report)

    async def compare(self, request: Request) -> Response:
        runs, anyway = request.query_params.getlist("run"), request.query_params.get("anyway") == "1"
        try:
            return await self._worked(
                request, lambda clock: self.runs_folder.comparison(runs, anyway).encode("utf-8", "replace"), _report
            )
        except Refused as refused:
            query = urlencode([*(("run", run) for run in runs), ("anyway", "1")])
            more = f'<p><a href="/compare?{escape(query)}">Compare what they have in common</a></p>'
            page = (STATIC / "refused.html").read_text(encoding="utf-8")
            shown = page.replace("<!-- why -->", escape(str(refused)) + (more if refused.status == 409 else ""))
            return Response(shown.encode("utf-8", "replace"), refused.status, media_type="text/html")

    # endpoints

    async def about(self, request: Request) -> Response:
        return _json(self.playground.about)

    async def predict(self, request: Request) -> Response:
        return await self._asked(request, PredictRequest, self.playground.predict)

    async def perturb(self, request: Request) -> Response:
        return await self._asked(request, PerturbRequest, self.playground.perturb)

    async def shield(self, request: Request) -> Response:
        return await self._asked(request, ShieldRequest, self.playground.shield)

    async def runs(self, request: Request) -> Response:
        return await self._worked(request, lambda clock: self.runs_folder.list())

    async def attack(self, request: Request) -> Response:
        job = self.jobs.start(read(AttackRequest, await _body(request)))
        return _json(job.answer(), 202)

    async def attack_state(self, request: Request) -> Response:
        return _json(self.jobs.find(request.path_params["id"]).answer())

    async def cancel(self, request: Request) -> Response:
        return _json(self.jobs.cancel(request.path_params["id"]).answer())

    async def attack_events(self, request: Request) -> Response:
        job = self.jobs.find(request.path_params["id"])
        if self.watched >= STREAMS:
            raise Refused(429, f"expected at most {STREAMS} streams of events at once, got one more")
        last = request.headers.get("last-event-id", "")
        begin = int(last) + 1 if last.isdecimal() and len(last) < 10 else 0
        return StreamingResponse(self._events(job, begin), media_type="text/event-stream")

    async def _events(self, job: AttackJob, at: int) -> AsyncIterator[str]:
        """Yields the events of an attack, from number `at` on, until it is done."""
        self.watched += 1
        silent = 0.0
        try:
            while True:
                done = job.state != "running"
                for number, (name, data) in enumerate(job.events[at:], at):
                    yield f"id: {number}\nevent: {name}\ndata: {json.dumps(data)}\n\n"
                    at, silent = number + 1, 0.0
                if done or self.closing():
                    return
                await asyncio.sleep(BEAT)
                silent += BEAT
                if silent > SILENCE:
                    yield ": working\n\n"
                    silent = 0.0
        finally:
            self.watched -= 1

    # bounded work

    async def _asked(self, request: Request, kind: type[T], work: Callable[[T, Clock], Any]) -> Response:
        """Reads a request and answers it by work in a thread."""
        return await self._worked(request, partial(work, read(kind, await _body(request))))

    async def _worked(
        self, request: Request, work: Callable[[Clock], T], answer: Callable[[T], Response] | None = None
    ) -> Response:
        """Does work in a thread, within bounds: so many at once, so many seconds, and only while the client waits."""
        if self.busy >= AT_ONCE:
            raise Refused(429, f"expected at most {AT_ONCE} requests at once, got one more: try again")
        clock, loop = Clock(SECONDS), asyncio.get_running_loop()
        found: asyncio.Future[T] = loop.create_future()
        self.busy += 1

        def run() -> None:
            result: Any = None
            failed: BaseException | None = None
            try:
                result = work(clock)
            except BaseException as error:  # also SystemExit of a model
                failed = error
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(self._settle, found, result, failed)

        Thread(target=run, daemon=True).start()  # a daemon: a model that hangs must not keep the server from ending
        leaving = asyncio.create_task(_left(request, clock))
        try:
            done = await asyncio.wait_for(asyncio.shield(found), SECONDS + GRACE)
            return answer(done) if answer else _json(done)
        except (asyncio.TimeoutError, TimeoutError):
            raise clock.late() from None
        except Stopped:
            return Response(status_code=499)  # nobody reads it
        finally:
            clock.stop()
            leaving.cancel()

    def _settle(self, found: asyncio.Future[Any], result: Any, failed: BaseException | None) -> None:
        """Ends a piece of work, which counts until then, even if nobody waits for it."""
        self.busy -= 1
        if found.cancelled():
            return
        if failed is None:
            found.set_result(result)
        else:
            found.set_exception(failed if isinstance(failed, Exception) else RuntimeError(reason_of(failed)))
            found.exception()  # so that it is not called forgotten if nobody waits for it

    async def _failed(self, request: Request, error: Exception) -> Response:
        self.say(f"{request.method} {request.url.path}: {reason_of(error)}")
        return _json({"error": f"expected an answer, got {reason_of(error)}: please report this"}, 500)


async def _by_method(methods: dict[str, Handler], request: Request) -> Response:
    """Answers by the handler of the method; HEAD is GET whose content is not sent."""
    return await methods["GET" if request.method == "HEAD" else request.method](request)


def _json(content: Any, status: int = 200) -> Response:
    """Returns an answer in ASCII, which holds any text, half characters in names of files, too."""
    return Response(json.dumps(content), status, media_type="application/json")


def _report(content: bytes) -> Response:
    return Response(content, media_type="text/html", headers={"content-security-policy": REPORT_POLICY})


async def _refused(request: Request, refused: Exception) -> Response:
    assert isinstance(refused, Refused)
    return _json({"error": str(refused)}, refused.status)


async def _unknown(request: Request, error: Exception) -> Response:
    """Answers requests that no route takes."""
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        text, more = f"expected another method, got {request.method}: see /docs", dict(error.headers or {})
    else:
        text, more = f"expected an address that /docs lists, got {request.url.path[:100]!r}", {}
    answer = _json({"error": text}, error.status_code)
    answer.headers.update(more)
    return answer


async def _left(request: Request, clock: Clock) -> None:
    """Stops the work of a request when its client goes away."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    clock.stop()


async def _body(request: Request) -> bytes:
    """Returns what a request holds. Raises Refused if it is no JSON by its type, too large, or too slow."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().casefold()
    if kind != "application/json":
        raise Refused(415, f"expected the content type application/json, got {kind[:60]!r}")

    async def whole() -> bytes:
        content = bytearray()
        async for part in request.stream():
            content += part
            if len(content) > LARGEST:
                raise Refused(413, f"expected a request of at most {LARGEST:,} bytes, got more")
        return bytes(content)

    try:
        return await asyncio.wait_for(whole(), SLOWEST)
    except (asyncio.TimeoutError, TimeoutError):
        raise Refused(408, f"expected the whole request within {SLOWEST:g} seconds, got a part of it") from None
    except ClientDisconnect:
        raise Refused(400, "expected the whole request, got a part of it") from None
