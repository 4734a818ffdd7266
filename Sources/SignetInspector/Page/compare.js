// Two calls side by side, and what differs.

function showComparison(one, other) {
    const [a, b] = [one.call, other.call];
    const title = (call) => "#" + call.id + ": " + short(nameOf(call), 80);
    // Most results are the status.
    const status = (call) => (resultOf(call) === String(call.status) ? "" : call.status);
    const pairs = [
        ["Result", resultOf(a), resultOf(b)], ["Message", a.message, b.message], ["Service", a.service, b.service],
        ["Method", a.method, b.method], ["URL", a.url, b.url], ["Status", status(a), status(b)],
        ["Began", showClock(a.start), showClock(b.start)], ["Took", showTime(a.duration), showTime(b.duration)],
        ["Sent", showSize(a.sent), showSize(b.sent)], ["Received", showSize(a.received), showSize(b.received)],
        ["Attempts", attemptWords(one.detail), attemptWords(other.detail)], ["Engine", a.engine, b.engine], ["Pin", a.pin, b.pin],
        ["Signed", a.isSigned ? "yes" : "no", b.isSigned ? "yes" : "no"], ["Cache", a.cache, b.cache],
        ["Origin", a.source, b.source], ["Tags", a.tags.join(", "), b.tags.join(", ")],
    ];
    const body = make("tbody");
    for (const [name, left, right] of pairs) {
        const [first, second] = [String(left ?? ""), String(right ?? "")];
        if (first === "" && second === "") continue;
        body.append(make("tr", { class: first === second ? "same" : "differs" }, make("th", { text: name, scope: "row" }),
            make("td", { text: short(first, 2000) }), make("td", { text: short(second, 2000) })));
    }
    const differences = (part) => {
        const lines = diffLines(linesOf(one.detail.exchange?.[part]), linesOf(other.detail.exchange?.[part]));
        if (lines.length === 0) return make("p", { class: "faint", text: "Nothing was kept." });
        if (lines.every(([sign]) => sign === " ")) return make("p", { class: "faint", text: "Equal." });
        return showDiff(lines);
    };
    const base = (item) => item.detail.contents.find((part) => part.base)?.base.text.split("\n") ?? [];
    const bases = diffLines(base(one), base(other));
    return [
        make("div", { class: "wide" }, make("table", { class: "two", "aria-label": "Two calls" },
            make("thead", {}, make("tr", {}, make("th", { text: "" }), make("th", { text: title(a), scope: "col" }), make("th", { text: title(b), scope: "col" }))), body)),
        make("p", { class: "faint", text: "Below, lines with − are of the first call alone, and lines with + of the second." }),
        make("h3", { text: "Request" }), differences("request"), make("h3", { text: "Response" }), differences("response"),
        ...(bases.length === 0 ? [] : [make("h3", { text: "Signature base" }), showDiff(bases)]),
        make("h3", { text: "Times" }), make("div", { class: "sides" },
            make("div", {}, make("p", { text: title(a) }), showWaterfall(a, one.detail)), make("div", {}, make("p", { text: title(b) }), showWaterfall(b, other.detail))),
    ];
}
