// One call: what happened, its times, its way through the stages, and its messages.

/** The length of a text that is shown at once; the rest comes on demand. */
const shownLength = 40000;

/** A text of any length: its beginning, and a button for the next part. */
function longText(text, attributes = {}) {
    const box = make("div");
    const area = make("pre", { tabindex: "0", ...attributes });
    let shown = 0;
    const more = make("button", { type: "button", onclick: () => show() });
    const show = () => {
        const next = Math.min(text.length, shown === 0 ? shownLength : shown + 250000);
        area.append(printable(text.slice(shown, next)));
        shown = next;
        more.textContent = "Show more (" + showSize(shown) + " of " + showSize(text.length) + ")";
        more.hidden = shown >= text.length;
    };
    show();
    box.append(area, more);
    return box;
}

const facts = (pairs) => {
    const list = make("dl");
    for (const [name, value] of pairs) {
        if (value === null || value === undefined || value === "") continue;
        list.append(make("dt", { text: name }), typeof value === "object" ? make("dd", {}, value) : make("dd", { text: oneLine(value) }));
    }
    return list;
};

const table = (columns, rows, label) => make("div", { class: "wide" }, make("table", { "aria-label": label },
    make("thead", {}, make("tr", {}, ...columns.map((text) => make("th", { text, scope: "col" })))),
    make("tbody", {}, ...rows.map((cells) => make("tr", {}, ...cells.map((cell, at) => {
        const node = cell instanceof Node ? cell : document.createTextNode(oneLine(cell ?? ""));
        return make("td", { class: at === 0 && node.textContent.length < 40 ? "key" : "" }, node);
    }))))));

function showMessage(message, label) {
    if (!message) return make("p", { class: "faint", text: "Nothing was kept." });
    return make("div", {},
        make("p", {}, make("code", { text: short(message.head, 2000) })),
        message.fields.length === 0 ? null : table(["Field", "Value"], message.fields.map(([name, value]) =>
            [make("code", { text: short(name, 200) }), make("code", { text: short(value, 8000) })]), label + ", fields"),
        message.body ? longText(pretty(message.body), { "aria-label": label + ", body" }) : null);
}

const stageWords = {
    building: "Building: the call, and the request that it became", signing: "Signing: the request before and after its signature",
    request: "Request: what was sent, and the head of the response", unboxing: "Unboxing: the response, and what the program gets",
    interceptors: "Interceptors: before and after the program's own code",
    cache: "Cache", reading: "Reading", attempt: "Attempt", "attempt-interceptors": "Interceptors of an attempt: before and after the program's own code",
};

/** Whether a stage took a request and gave a response, so that the two can't be compared. */
const isAnswer = (part) => part.stage === "request" || (/interceptors$/.test(part.stage) && /^\d{3}$/.test(part.after?.head ?? "") && !/^\d{3}$/.test(part.before?.head ?? ""));

/** The stages that have contents, each with what it changed. */
function showStages(detail) {
    if (detail.contents.length === 0) {
        return make("p", { class: "faint", text: "No contents were kept: in production they are kept only if a call's options ask for it (keepsContents)." });
    }
    const box = make("div");
    detail.contents.forEach((part, at) => {
        const isChange = part.before && part.after && !isAnswer(part);
        const isEqual = isChange && JSON.stringify(part.before) === JSON.stringify(part.after);
        const note = !part.after ? "the stage failed" : isAnswer(part) ? "answered " + oneLine(part.after.head)
            : !part.before ? "" : isEqual ? "no change" : "changed";
        const inside = make("div", { class: "inside" });
        const fold = make("details", { "data-stage": part.stage }, make("summary", {},
            make("strong", { text: (at + 1) + ". " + (own(stageWords, part.stage) ?? oneLine(part.stage)) }),
            make("span", { class: "faint", text: note === "" ? "" : " · " + note })), inside);
        fold.addEventListener("toggle", () => {
            if (!fold.open || inside.childElementCount > 0) return;
            if (isChange) {
                const lines = diffLines(linesOf(part.before), linesOf(part.after));
                const count = lines.filter(([sign]) => sign !== " ").length;
                inside.append(make("h3", { text: "What it changed: " + plural(count, "line") }), showDiff(lines));
            }
            const sides = make("div", { class: "sides" },
                make("div", {}, make("h3", { text: "Before" }), showMessage(part.before, "before")),
                make("div", {}, make("h3", { text: "After" }), showMessage(part.after, "after")));
            inside.append(isChange
                ? make("details", {}, make("summary", { text: "Both in full" }), make("div", { class: "inside" }, sides)) : sides);
        });
        box.append(fold);
    });
    return box;
}

/** The origin of a part of a signature base, in words. */
function originOf(name) {
    const plain = name.replace(/^"|"(;.*)?$/g, "");
    const known = {
        "@method": "the request's method", "@target-uri": "the request's whole URL", "@authority": "the host of the URL",
        "@scheme": "the scheme of the URL", "@path": "the path of the URL", "@query": "the query of the URL",
        "@request-target": "the request line", "@query-param": "a parameter of the query",
        "@signature-params": "the signer: the covered parts, time and key id", "content-digest": "the digest of the body",
        "keyid": "the id of the key", "created": "the time of signing", "nonce": "a random value of this signature",
        "{method}": "the request's method", "{path}": "the path of the URL", "{query}": "the query of the URL",
        "{body}": "the body", "{time}": "the time of signing", "{nonce}": "a random value of this signature", "{keyid}": "the id of the key",
    };
    return own(known, plain) ?? (/^[@{]/.test(plain) ? "the request" : "the field " + plain);
}

function showSignature(detail) {
    const signed = detail.contents.filter((part) => part.base);
    const isSigned = detail.attempts.some((attempt) => attempt.hops.some((hop) => hop.isSigned));
    if (signed.length === 0) {
        return make("p", { class: "faint", text: isSigned ? "The request was signed; its signature base wasn't kept." : "The request wasn't signed." });
    }
    const box = make("div");
    signed.forEach((part, at) => {
        if (signed.length > 1) box.append(make("h3", { text: "Request " + (at + 1) }));
        box.append(make("p", { text: oneLine("These bytes were signed" + signedWords(part.base) + ". Each secret in them is shown as (redacted).") }));
        box.append(longText(part.base.text, { "aria-label": "signature base" }));
        const signer = /(?:^|\n)"@signature-params": (.*)$/.exec(part.base.text);
        box.append(table(["Part", "Comes from", "Value"], [...part.base.parts, ...(signer ? [["@signature-params", signer[1]]] : [])].map(([name, value]) =>
            [make("code", { text: short(name, 200) }), originOf(name), make("code", { text: short(value, 4000) })]), "parts of the signature base"));
    });
    return box;
}

/** The keys of the server's chain and those of the policy's rule, each once. */
function keysTable(pins) {
    const rest = pins.wanted.filter((pin) => !pins.seen.some((seen) => seen.pin === pin)).map((pin) => [pin, "not seen", "pinned"]);
    const rows = [...pins.seen.map(({ subject, pin }) => [pin, subject || "seen", pins.wanted.includes(pin) ? "pinned" : "not pinned"]), ...rest];
    const rule = (pins.rule ? "Rule " + oneLine(pins.rule) : "Policy") + (pins.mode === "report" ? " (report only)" : "");
    return table(["Key", "Server's chain", rule], rows.map(([pin, ...words]) => [make("code", { text: pin }), ...words]), "keys seen and pinned");
}

function showPins(detail) {
    const box = make("div");
    detail.attempts.forEach((attempt, at) => attempt.hops.forEach((hop) => {
        const { pins } = hop;
        if (!pins) return;
        box.append(make("h3", { text: "Attempt " + (at + 1) + ": " + oneLine(hop.url) }));
        box.append(make("p", { class: pins.isMatch ? "good" : "bad", text: pins.isMatch
            ? "A key of the server's chain is pinned." : pins.seen.length > 0 ? "No key of the server's chain is pinned." : "Refused before a connection: " + (pins.refusal ?? "") }));
        box.append(keysTable(pins));
    }));
    if (box.childElementCount === 0) {
        const isPinned = detail.attempts.some((attempt) => attempt.hops.some((hop) => hop.isPinned));
        box.append(make("p", { class: "faint", text: isPinned ? "The server's key was one of the pinned ones." : "No pins applied." }));
    }
    return box;
}

function showCache(detail) {
    const use = detail.cache;
    if (!use) return make("p", { class: "faint", text: "No cache was asked." });
    return facts([
        ["Decision", use.decision], ["Reason", use.reason], ["Rules", use.policy], ["Mode", use.mode],
        ["Age", use.age === null || use.age === undefined ? "" : plural(use.age, "second")],
        ["Stored now", use.isStored ? "yes" : "no"], ["Key", use.key],
    ]);
}

/** The engine that sent a request, and why. */
function engineWords({ engine, reason }) {
    const why = own({ standard: "no other was chosen", chosen: "the options chose it", trial: "a share of the calls tries it", speed: "it is the fastest", fallback: "the one before it fails" }, reason ?? "") ?? reason;
    return engine ? "engine " + engine + (why ? ", because " + why : "") : "";
}

/** The address that a request went to, and why. */
function addressWords(use) {
    if (!use) return "";
    const why = own({ fastest: "it was the fastest when it was measured", next: "it is the next one", name: "no address works or is measured yet" }, use.reason ?? "") ?? use.reason;
    return "address " + (use.address ?? "by the host's name") + (why ? ", because " + why : "") + (use.failed.length > 0 ? " (no connection to " + use.failed.join(", ") + ")" : "");
}

/** Each request with its result, and below it the remarks. */
function showAttempts(call, detail) {
    const list = make("div", { role: "list" });
    const add = (number, request, result, remarks) => list.append(make("div", { class: "attempt", role: "listitem" },
        make("p", {}, number + " ", make("code", { text: short(request, 4000) }), " ", make("strong", { text: result })),
        make("p", { class: "faint", text: oneLine(remarks.filter(Boolean).join(" · ")) })));
    detail.attempts.forEach((attempt, at) => attempt.hops.forEach((hop, place) => {
        add(String(at + 1) + (attempt.hops.length > 1 ? "." + (place + 1) : "") + ".", hop.method + " " + hop.url, hop.failure ?? String(hop.status ?? "no response"), [
            hop.version, hop.source !== "server" ? hop.source : "", hop.isSigned ? "signed" : "", hop.isPinned ? "pinned" : "",
            hop.isSimulated ? "simulated" : "", hop.timings.isReused ? "kept connection" : "", engineWords(hop), addressWords(hop.address)]);
        const redirect = attempt.redirects[place];
        if (redirect) add("→", redirect.to, String(redirect.status), ["redirected, then " + redirect.method]);
    }));
    if (list.childElementCount > 0) return list;
    return make("p", { class: "faint", text: call.status && call.source === "server" ? "The recording holds no attempts." : "Nothing was sent." });
}

/** Fills the detail with a call. */
function showCall(box, call, detail, actions) {
    const told = explain(call, detail);
    const sections = [
        ["times", "Times", showWaterfall(call, detail)],
        ["attempts", "Attempts", showAttempts(call, detail)],
        ["stages", "Stages, before and after", showStages(detail)],
        ["signature", "Signature", showSignature(detail)],
        ["pins", "Pins", showPins(detail)],
        ["cache", "Cache", showCache(detail)],
        ["request", "Request", showMessage(detail.exchange?.request, "request")],
        ["response", "Response", showMessage(detail.exchange?.response, "response")],
        ["about", "About", facts([
            ["Number", call.id + (call.ordinal ? " (no. " + call.ordinal + " of its method)" : "")], ["Service", call.service],
            ["Method", call.method], ["URL", call.url], ["Tags", call.tags.join(", ")], ["Began", showDate(call.start)],
            ["Took", showTime(call.duration)], ["Mode", detail.mode], ["Scenario", detail.scenario],
            ["Origin of the response", call.source], ["Sent", showSize(call.sent)], ["Received", showSize(call.received)],
            ["Deadline", showTime(detail.limits?.deadline)], ["Time of an attempt", showTime(detail.limits?.timeout)],
            ["Attempts allowed", detail.limits?.attempts], ["Redacted", detail.redacted],
            ["Stubs", detail.stubs.map((stub) => stub.place + " (" + stub.module + ")").join(", ")],
        ])],
    ];
    const go = (id) => { byID("part-" + id).scrollIntoView(); byID("part-" + id).focus(); };
    const link = (id, text) => make("a", { href: "#part-" + id, text, onclick: (event) => { event.preventDefault(); go(id); } });
    const titles = Object.fromEntries(sections.map(([id, title]) => [id, title.split(",")[0]]));
    const jump = make("nav", { class: "jump", "aria-label": "Parts of the call" }, ...Object.keys(titles).map((id) => link(id, titles[id])));
    const what = make("div", { class: "what " + told.tone }, make("strong", { text: oneLine(told.title) }));
    for (const words of told.words) what.append(make("p", { text: oneLine(words) }));
    const pins = told.part === "pins" ? detail.attempts.flatMap((attempt) => attempt.hops).at(-1)?.pins : null;
    if (pins) what.append(keysTable(pins));
    if (call.message) what.append(make("p", {}, "Signet's words: ", make("code", { text: short(told.summary ?? call.message, 4000) })));
    const answer = detail.exchange?.response;
    if (call.state === "failed" && answer?.body && kindOf(answer) !== "omitted") {
        what.append(make("p", {}, "The server's own words: ", make("code", { text: short(answer.body, 500) })));
    }
    if (told.next) what.append(make("p", {}, make("b", { text: "Next: " }), oneLine(told.next) + ". ", told.part ? link(told.part, "To " + titles[told.part]) : null));
    if (told.entry) {
        what.append(make("p", { text: "A rule that accepts what was seen now. Use it only after the server's owner confirmed the key:" }), make("pre", { text: printable(told.entry), tabindex: "0" }));
    }
    const name = short(nameOf(call), 400), place = ["#" + call.id, call.host, call.service, showClock(call.start)].filter(Boolean).join(" · ");
    box.replaceChildren(
        make("div", { class: "top" },
            make("div", { class: "heading" }, make("button", { type: "button", class: "back", text: "← List", onclick: actions.close }),
                make("span", { class: "title", text: name, title: name })),
            make("div", { class: "place faint", title: short(place, 1000) }, make("b", { id: "gone", class: "warning", text: "no longer in the list · ", hidden: !actions.isGone() }), short(place)),
            make("div", { class: "tools" }, ...actions.buttons(call, detail)), jump),
        what,
        ...sections.map(([id, title, content]) => make("section", { id: "part-" + id, tabindex: "-1", "aria-label": title },
            make("h2", { text: title }), content)));
    box.scrollTop = 0;
}
