// The times of a call, one line for each wait, pause and request.

const partNames = {
    queue: "in the queue", pause: "pause before a retry", delay: "delay of the switch slow", name: "name", connect: "connect", secure: "TLS",
    wait: "first byte", body: "body", failed: "failed", other: "other work",
};

/** The lines of a waterfall: a label, and parts with a kind, a start and a length in milliseconds. */
function waterfallLines(call, detail) {
    const lines = [];
    const others = [];
    const isTiny = (span) => span < 1 && span < (call.duration ?? 0) / 50;
    for (const stage of detail.stages) {
        if (["queue", "pause", "delay"].includes(stage.name)) {
            lines.push({ label: partNames[stage.name], at: stage.start, parts: [[stage.name, stage.start, stage.duration]] });
        } else if (!["attempt", "request", "reading", "interceptors", "attempt-interceptors"].includes(stage.name) ) {
            if (isTiny(stage.duration)) others.push(["other", stage.start, stage.duration]);
            else lines.push({ label: stage.name, at: stage.start, parts: [["other", stage.start, stage.duration]] });
        }
    }
    if (others.length > 0) lines.push({ label: "other work", at: others[0][1], parts: others });
    detail.attempts.forEach((attempt, number) => attempt.hops.forEach((hop) => {
        const label = "attempt " + (number + 1) + ", " + (hop.failure ?? hop.status ?? "no response");
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

function showWaterfall(call, detail) {
    const lines = waterfallLines(call, detail);
    const first = Math.min(0, ...lines.map((line) => line.at));
    const whole = Math.max(call.duration ?? 0, ...lines.flatMap((line) => line.parts.map(([, start, length]) => start + length))) - first;
    if (lines.length === 0 || !(whole > 0)) return make("p", { class: "faint", text: "No times are known." });
    const box = make("div", { class: "waterfall" });
    const kinds = new Set();
    for (const { label, parts } of lines) {
        const track = make("div", { class: "track" });
        const words = [];
        let length = 0;
        for (const [kind, start, span] of parts) {
            kinds.add(kind);
            length += span;
            const bar = make("span", { class: "part-" + kind, title: partNames[kind] + ": " + showTime(span) });
            bar.style.left = Math.max(0, Math.min(99.5, 100 * (start - first) / whole)) + "%";
            bar.style.width = Math.max(0.2, Math.min(100, 100 * span / whole)) + "%";
            track.append(bar);
            words.push(partNames[kind] + " " + showTime(span));
        }
        track.setAttribute("role", "img");
        track.setAttribute("aria-label", words.join(", "));
        box.append(make("span", { class: "label", text: oneLine(label), title: words.join(", ") }), track, make("span", { class: "number", text: showTime(length) }));
    }
    const legend = make("p", { class: "legend" });
    for (const kind of kinds) legend.append(make("span", {}, make("i", { class: "part-" + kind }), partNames[kind]));
    return make("div", {}, box, legend);
}
