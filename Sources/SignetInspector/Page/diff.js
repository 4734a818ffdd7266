// Differences of two texts and of two messages.

/** The most lines of which the exact difference is looked for. */
const diffLimit = 1500;

/** Returns lines as [sign, text]: " " for both, "-" for the first alone, "+" for the second alone (Myers). */
function diffLines(one, other) {
    let start = 0;
    while (start < one.length && start < other.length && one[start] === other[start]) start += 1;
    let end = 0;
    while (end < one.length - start && end < other.length - start
        && one[one.length - 1 - end] === other[other.length - 1 - end]) end += 1;
    const a = one.slice(start, one.length - end), b = other.slice(start, other.length - end);
    const same = (lines) => lines.map((line) => [" ", line]);
    return [...same(one.slice(0, start)), ...diffMiddle(a, b), ...same(end ? one.slice(-end) : [])];
}

function diffMiddle(a, b) {
    const all = () => [...a.map((line) => ["-", line]), ...b.map((line) => ["+", line])];
    const max = a.length + b.length;
    if (a.length === 0 || b.length === 0 || max > 2 * diffLimit) return all();
    const traces = [];
    let ends = new Int32Array(2 * max + 2);
    for (let depth = 0; depth <= Math.min(max, 600); depth += 1) {
        traces.push(ends.slice());
        for (let k = -depth; k <= depth; k += 2) {
            const isDown = k === -depth || (k !== depth && ends[max + k - 1] < ends[max + k + 1]);
            let x = isDown ? ends[max + k + 1] : ends[max + k - 1] + 1;
            let y = x - k;
            while (x < a.length && y < b.length && a[x] === b[y]) { x += 1; y += 1; }
            ends[max + k] = x;
            if (x >= a.length && y >= b.length) return backtrack(traces, a, b, max);
        }
    }
    return all();
}

function backtrack(traces, a, b, max) {
    const lines = [];
    let x = a.length, y = b.length;
    for (let depth = traces.length - 1; depth >= 0; depth -= 1) {
        const ends = traces[depth], k = x - y;
        const isDown = k === -depth || (k !== depth && ends[max + k - 1] < ends[max + k + 1]);
        const beforeK = isDown ? k + 1 : k - 1;
        const beforeX = depth === 0 ? 0 : ends[max + beforeK], beforeY = depth === 0 ? 0 : beforeX - beforeK;
        while (x > beforeX && y > beforeY && x > 0 && y > 0 && a[x - 1] === b[y - 1]) {
            x -= 1; y -= 1;
            lines.push([" ", a[x]]);
        }
        if (depth === 0) break;
        if (isDown) { y -= 1; lines.push(["+", b[y]]); } else { x -= 1; lines.push(["-", a[x]]); }
    }
    return lines.reverse();
}

/** JSON with one member a line; another text as it is. */
function pretty(text) {
    if (!/^\s*[[{]/.test(text) || text.length > 2e6) return text;
    // Numbers keep their text, so this only adds line breaks, outside of strings.
    let out = "", depth = 0, at = 0;
    const indent = () => "\n" + "  ".repeat(Math.min(depth, 40));
    try { JSON.parse(text); } catch { return text; }
    while (at < text.length) {
        const character = text[at];
        if (character === "\"") {
            let end = at + 1;
            while (text[end] !== "\"") end += text[end] === "\\" ? 2 : 1;
            out += text.slice(at, end + 1);
            at = end + 1;
            continue;
        }
        at += 1;
        if (/\s/.test(character)) continue;
        if (character === "{" || character === "[") {
            const rest = /^\s*[\]}]/.exec(text.slice(at, at + 50));
            if (rest) { out += character + rest[0].trim(); at += rest[0].length; continue; }
            depth += 1;
            out += character + indent();
        } else if (character === "}" || character === "]") {
            depth -= 1;
            out += indent() + character;
        } else if (character === ",") out += "," + indent();
        else if (character === ":") out += ": ";
        else out += character;
    }
    return out;
}

const linesOf = (message) => (message
    ? [message.head, ...message.fields.map(([name, value]) => name + ": " + value), "", ...pretty(message.body ?? "").split("\n")]
    : []);

/** The changed lines that are shown at once. */
const shownChanges = 1000;

/** The lines of a difference, long equal parts folded. */
function showDiff(lines) {
    const box = make("pre", { tabindex: "0" });
    const isNear = lines.map((_, at) => lines.slice(Math.max(0, at - 3), at + 4).some(([sign]) => sign !== " "));
    let folded = [], changed = 0, rest = -1;
    const unfold = () => {
        if (folded.length === 0) return;
        const kept = folded;
        folded = [];
        if (kept.length < 4) { for (const line of kept) box.append(diffLine(" ", line)); return; }
        const fold = make("span", { class: "diff fold" });
        fold.append(make("button", {
            type: "button", text: plural(kept.length, "equal line"),
            onclick: () => fold.replaceWith(...kept.map((line) => diffLine(" ", line))),
        }));
        box.append(fold);
    };
    lines.some(([sign, line], at) => {
        if (sign === " " && !isNear[at]) { folded.push(line); return false; }
        unfold();
        if (sign !== " ") changed += 1;
        if (changed > shownChanges) { rest = at; return true; }
        box.append(diffLine(sign, line));
        return false;
    });
    unfold();
    if (rest >= 0) {
        const more = make("button", {
            type: "button", text: "Show more changed lines", onclick: () => { more.remove(); box.append(...showDiff(lines.slice(rest)).childNodes); },
        });
        box.append(more);
    }
    return box;
}

function diffLine(sign, line) {
    const look = sign === "+" ? " added" : sign === "-" ? " removed" : "";
    return make("span", { class: "diff" + look, text: sign + " " + short(line, 20000) });
}
