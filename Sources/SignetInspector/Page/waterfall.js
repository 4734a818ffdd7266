// The times of a call, one line for each wait, pause and request.

const partNames = {
    queue: "in the queue", pause: "pause before a retry", delay: "delay of the switch slow", name: "name lookup", connect: "connecting", secure: "TLS",
    wait: "wait for the first byte", body: "body", failed: "failed", work: "Signet's work", rest: "the rest",
};

/** What the lines of stages are for a reader who doesn't know them. */
const lineHelp = {
    admission: "options are merged", building: "the call becomes a request", unboxing: "the response becomes what the program gets",
    "short stages": "each below 1 ms", "the rest": "interceptors, and time in the engine and between the stages",
};

/** The lines of a waterfall: a label, and parts with a kind, a start, a length in milliseconds and a name. */
function waterfallLines(call, detail) {
    const lines = [];
    const others = [];
    const isTiny = (span) => span < 1 && span < (call.duration ?? 0) / 50;
    for (const stage of detail.stages) {
        if (["queue", "pause", "delay"].includes(stage.name)) {
            lines.push({ label: partNames[stage.name], at: stage.start, parts: [[stage.name, stage.start, stage.duration]] });
        } else if (!["attempt", "request", "reading", "interceptors", "attempt-interceptors"].includes(stage.name)) {
            if (isTiny(stage.duration)) others.push(["work", stage.start, stage.duration, stage.name]);
            else lines.push({ label: stage.name, at: stage.start, parts: [["work", stage.start, stage.duration, stage.name]] });
        }
    }
    if (others.length > 0) lines.push({ label: "short stages", at: others[0][1], parts: others });
    detail.attempts.forEach((attempt, number) => attempt.hops.forEach((hop) => {
        const label = "attempt " + (number + 1) + ": " + (hop.failure ?? hop.status ?? "no response");
        const { timings } = hop;
        const parts = [];
        let from = 0;
        for (const [kind, until] of [["name", timings.name], ["connect", timings.connected], ["connect", timings.tunnelled], ["secure", timings.secured], ["wait", timings.firstByte], ["body", timings.total]]) {
            if (until > from) {
                parts.push([kind, hop.start + from, until - from]);
                from = until;
            }
        }
        if (hop.failure && !(timings.firstByte > 0)) parts.splice(0, parts.length, ["failed", hop.start, timings.total]);
        lines.push({ label, at: hop.start, parts });
    }));
    return lines.sort((one, other) => one.at - other.at);
}

/** The times between a start and an end that no line has. */
function restOf(lines, from, end) {
    const rest = [];
    let at = from;
    for (const [, start, length] of [...lines.flatMap((line) => line.parts).sort((one, other) => one[1] - other[1]), ["", end, 0]]) {
        if (start > at) rest.push(["rest", at, start - at]);
        at = Math.max(at, start + length);
    }
    return rest;
}

function showWaterfall(call, detail) {
    const lines = waterfallLines(call, detail);
    const first = Math.min(0, ...lines.map((line) => line.at));
    const whole = Math.max(call.duration ?? 0, ...lines.flatMap((line) => line.parts.map(([, start, length]) => start + length))) - first;
    if (lines.length === 0 || !(whole > 0)) return make("p", { class: "faint", text: call.duration ? "Only the whole time is known: " + showTime(call.duration) + "." : "No times are known." });
    const rest = restOf(lines, first, first + whole);
    if (rest.length > 0) lines.push({ label: "the rest", parts: rest });
    const box = make("div", { class: "waterfall" });
    const kinds = new Set();
    for (const { label, parts } of lines) {
        const track = make("div", { class: "track" });
        const words = [];
        let length = 0;
        for (const [kind, start, span, name] of parts) {
            kinds.add(kind);
            length += span;
            const bar = make("span", { class: "part-" + kind, title: (name ?? partNames[kind]) + ": " + showTime(span) });
            bar.style.left = Math.max(0, Math.min(99.5, 100 * (start - first) / whole)) + "%";
            bar.style.width = Math.max(0.2, Math.min(100, 100 * span / whole)) + "%";
            track.append(bar);
            words.push((name ?? partNames[kind]) + " " + showTime(span));
        }
        track.setAttribute("role", "img");
        track.setAttribute("aria-label", words.join(", "));
        box.append(make("span", { class: "label", text: oneLine(label), title: words.join(", ") }), track, make("span", { class: "number", text: showTime(length) }));
    }
    const legend = make("p", { class: "legend" });
    for (const kind of kinds) legend.append(make("span", {}, make("i", { class: "part-" + kind }), partNames[kind]));
    box.append(make("b", { text: "in all" }), make("span"), make("b", { class: "number", text: showTime(whole) }));
    const help = lines.map(({ label }) => label).filter((label) => own(lineHelp, label)).map((label) => label + ": " + lineHelp[label]);
    return make("div", {}, box, legend, help.length > 0 ? make("p", { class: "legend", text: help.join("; ") + "." }) : null);
}
