"""The page of a running program, Examples/look: what it says about five failures, the stages, and what it does."""

import http.server
import os
import subprocess
import threading

CHOOSE = """(async (filter) => {
    const box = document.getElementById("filter"), count = document.getElementById("count");
    box.value = filter;
    box.dispatchEvent(new Event("input"));
    for (let step = 0; step < 100; step += 1) {
        await new Promise((done) => setTimeout(done, 50));
        // The newest that has ended: the program drops the oldest ones.
        const ended = [...document.querySelectorAll(".row:not([hidden]):not(.group)")].filter((row) => !row.textContent.startsWith("…"));
        const row = ended.sort((one, other) => other.dataset.entry - one.dataset.entry)[0];
        if (row && count.textContent.includes(" of ") && !count.textContent.startsWith("0 ")) {
            // What is shown of another call says nothing.
            document.querySelector("#detail .what")?.remove();
            row.click();
            break;
        }
    }
    for (let step = 0; step < 100; step += 1) {
        await new Promise((done) => setTimeout(done, 50));
        if (document.querySelector("#detail .what")) break;
    }
    for (const part of document.querySelectorAll("#detail section details")) part.open = true;
    await new Promise((done) => setTimeout(done, 50));
    return document.getElementById("detail").innerText;
})"""

CLEAR = """(() => {
    const box = document.getElementById("filter");
    box.value = "";
    box.dispatchEvent(new Event("input"));
    document.getElementById("suggestions").hidden = true;
})()"""

# The calls that the program keeps.
KEPT = 60

# The filter of each failure, and what a newcomer has to find on the page to explain it.
FAILURES = {
    "wrong-pin": ("method:payments.take", [
        "pin-mismatch", "match this chain: perhaps the pins of the two rules were swapped", "none of its keys is one of the pinned keys", "Nothing of the request was sent",
        "Next: ask the server's owner", "only after the server's owner confirmed the key",
        "sha256/E9CZ9INDbd+2eRQozYqqbQ2yXLVKB9+xcprMF+44U1g=", "sha256/C5+lpZ7tcVwmwQIMcRtPbsQtWLABXhQzejna0wHFr8M=", "Rule pay.example.com",
    ]),
    "wrong-signature": ("service:partner", [
        "The server says that the signature is wrong: status 401", "signed by the scheme rfc9421 with the key orders-2026 at 20", "compare the signature base", "one of the clocks is wrong", '"@method": GET', "@signature-params", "orders-2026", "the request's method",
        "The server's own words: {\"error\":\"signature does not match\"}",
    ]),
    "retry-storm": ("service:busy", [
        "4 attempts", "503, then 503, then 503, then 503", "the limit is 4 attempts", "pause before a retry", "gets 4 times the load", "it sent no Retry-After", "services.busy.attempts",
    ]),
    "stale-cache": ("cache:stale", [
        "a stale response from the cache", "No connection to prices.example.com could be made (connect: prices.example.com refuses connections)", "s past its limit of 1 s", "Next: find out", "Age", "stale-if-error", '"tea": 3.50',
    ]),
    "business-code": ("method:stock.reserve", [
        "The service said no: code 4001", "own code in the response means failure", "The status of HTTP was 200", "The server's own words:", "sold out", "(4001) is not one of the good codes", "services.orders.responseChecks.goodCodes",
    ]),
}


def live(browser, program, out, check, pictures):
    """Opens the page of a running program."""
    with subprocess.Popen(["stdbuf", "-oL", program, str(KEPT)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            link = next(word for line in process.stdout for word in line.split() if word.startswith("http://127.0.0.1:"))
            browser.size(1280, 900)
            browser.open(link)
            check(browser.run("location.pathname + location.search") == "/", "the token stays in the address")
            check(browser.run("document.cookie") == "", "a script can read the cookie")
            browser.wait("document.getElementById('live').textContent.includes('live')")
            browser.wait("document.getElementById('count').textContent.includes('calls')")
            for name, (filter, words) in FAILURES.items():
                text = browser.run(f"{CHOOSE}({filter!r})")
                for word in words:
                    check(word in text, f"{name}: the page doesn't say {word!r}")
                browser.picture(out / f"failure-{name}.png")
            follows(browser, check)
            stages(browser, out, check)
            curl(browser, check)
            switch(browser, out, check)
            text = browser.run(f"{CHOOSE}('method:orders.greet')")
            check("</script><script>" in text and "\\u{202e}" in text and "\u202e" not in text, "a hostile name isn't shown as it is")
            check(browser.run("document.title") == "look – Calls", "a script of a name ran")
            browser.size(1280, 800)
            browser.run(CLEAR)
            pictures(browser, "live")
            origin = link.split("/?")[0]
            check([url for url in browser.requests() if not url.startswith(origin)] == [], "the page asked others")
            check(browser.messages() == [], f"the console has messages: {browser.messages()}")
            browser.open(link)
            check("403" in browser.run("document.body.innerText"), "the link opens the page a second time")
            print("inspector: the page of a running program explains five failures")
        finally:
            process.kill()


def follows(browser, check):
    """Calls that come and calls that are dropped leave the chosen call where it is on the screen."""
    dropped = "Number(/([0-9]+) older/.exec(document.getElementById('count').textContent)?.[1] ?? 0)"
    browser.wait(f"{dropped} > 0", 60)
    browser.run(CLEAR)
    browser.wait(f"document.getElementById('rows').offsetHeight >= {KEPT} * 44")
    browser.run(f"document.getElementById('list').scrollTop = {KEPT - 30} * 44; 0")
    browser.wait(f"[...document.querySelectorAll('.row:not([hidden])')].some((row) => row.dataset.entry === '{KEPT - 25}')")
    browser.run(f"[...document.querySelectorAll('.row')].find((row) => row.dataset.entry === '{KEPT - 25}').click()")
    browser.wait("document.querySelector('#detail .title')?.textContent === document.querySelector('.row.chosen .first')?.textContent")
    state = """JSON.stringify([Math.round(document.querySelector('.row.chosen')?.getBoundingClientRect().top ?? -1),
        document.querySelector('.row.chosen .first')?.textContent, document.querySelector('#detail .title')?.textContent])"""
    before, first = browser.run(state), browser.run(dropped)
    browser.wait(f"{dropped} >= {first} + 12", 60)
    browser.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
    after, count = browser.run(state), browser.run("document.getElementById('count').textContent")
    check(after == before, f"the chosen call moved from {before} to {after}")
    total = int(count.split(" ")[0].replace(",", ""))
    check(total <= KEPT + KEPT // 2, f"the page has {total} calls, the program keeps {KEPT}: {count}")
    # Not the oldest one, which may be dropped before it is chosen.
    browser.run("document.getElementById('list').scrollTop = 0; 0")
    browser.wait("[...document.querySelectorAll('.row:not([hidden])')].some((row) => row.dataset.entry === '9')")
    browser.run("[...document.querySelectorAll('.row')].find((row) => row.dataset.entry === '9').click()")
    browser.wait("document.getElementById('gone')?.hidden === false && document.getElementById('gone').textContent.includes('no longer in the list')", 60)
    browser.run("[...document.querySelectorAll('#views button')].find((button) => button.textContent === 'Orders that failed').click()")
    check(browser.run("document.getElementById('filter').value") == "service:orders is:failed", "the program's view isn't offered")


def stages(browser, out, check):
    """The differences of a call's stages, the engine and the address with their reasons, and no secret."""
    text = browser.run(f"{CHOOSE}('method:orders.create')")
    for word in ["engine standard, because no other was chosen", "address 192.0.2.2, because it was the fastest when it was measured", "1. Building", "2. Interceptors of an attempt", "3. Signing", "4. Request", "5. Unboxing", "+ X-Client: look", "+ Signature-Input", '"password": "(redacted)"']:
        check(word.lower() in text.lower(), f"the stages don't show {word!r}")
    check("hunter2" not in browser.run("document.documentElement.innerHTML"), "a secret is on the page")
    browser.run("document.getElementById('part-stages').scrollIntoView()")
    browser.picture(out / "stages.png")
    browser.run("document.getElementById('part-signature').scrollIntoView()")
    browser.picture(out / "signature.png")


class Echo(http.server.BaseHTTPRequestHandler):
    """Keeps the last request."""
    last = None

    def do_POST(self):
        Echo.last = (self.command, self.path, dict(self.headers), self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def curl(browser, check):
    """A command that is copied, run by a shell, sends the bytes that the page shows."""
    browser.run("window.copied = null; navigator.clipboard.writeText = async (text) => { window.copied = text; }; 0")
    browser.run("[...document.querySelectorAll('#detail button')].find((button) => button.textContent === 'Copy as curl').click()")
    browser.wait("window.copied")
    command = browser.run("window.copied")
    server = http.server.HTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    command = command.replace("https://api.example.com", f"http://127.0.0.1:{server.server_port}")
    secrets = {"PASSWORD": "p'q\"r$s", "BODY": "p'q\"r$s", "SIGNATURE": "sig=:AAAA:", "CONTENT_DIGEST": "sha-256=:AAAA:"}
    done = subprocess.run(["sh", "-c", command], env=os.environ | secrets, capture_output=True, text=True)
    server.shutdown()
    check(done.returncode == 0 and Echo.last is not None, f"curl fails: {done.stderr}")
    if Echo.last:
        method, path, fields, body = Echo.last
        check((method, path) == ("POST", "/rpc"), f"curl sends {method} {path}")
        check(b'"password":"p\'q"r$s"' in body and b'"item":"tea"' in body, f"curl sends the body {body!r}")
        names = {name.lower() for name in fields}
        check("signature-input" in names and fields.get("Signature") == secrets["SIGNATURE"], f"curl sends the fields {sorted(names)}")
        check(not names & {"user-agent", "expect"}, f"curl adds {sorted(names)}")
    for button, word in (("Copy as HAR", '"serverIPAddress": "192.0.2.2"'), ("Copy as Swift", 'RPCCall("orders.create"')):
        browser.run(f"window.copied = null; [...document.querySelectorAll('#detail button')].find((button) => button.textContent === {button!r}).click()")
        browser.wait("window.copied")
        check(word in browser.run("window.copied"), f"{button}: {browser.run('window.copied')[:200]}")


def switch(browser, out, check):
    """A switch acts on the program's next calls, and the page says that it is on."""
    browser.run("document.getElementById('open-switches').click()")
    browser.wait("document.getElementById('switch-Offline')")
    browser.picture(out / "switches.png")
    browser.run("document.getElementById('switch-Offline').click()")
    browser.wait("document.getElementById('open-switches').textContent === 'On: offline'")
    browser.key("Escape")
    text = browser.run(f"{CHOOSE}('has:simulated method:orders.list')")
    check("A switch (simulation) made the failure" in text, "an offline call doesn't say so")
    browser.run("document.getElementById('open-switches').click()")
    browser.run("[...document.querySelectorAll('#dialog button')].find((button) => button.textContent === 'All off').click()")
    browser.wait("document.getElementById('open-switches').textContent === 'Switches'")
    browser.key("Escape")
