// The filter: tokens such as status:5xx, and words. Tokens of one name are alternatives, except for `has`, `body` and
// words, all of which must hold; a minus before a token turns it around.

/** The tests of `has:`. */
const traits = {
    retry: (call) => call.attempts > 1, redirect: (call) => call.redirects > 0,
    pin: (call) => call.pin !== "none", signature: (call) => call.isSigned, cache: (call) => !!call.cache,
    stub: (call) => call.stubs.length > 0, simulated: (call) => call.isSimulated,
    error: (call) => !!call.code, body: (call) => call.lower !== "",
    tag: (call) => call.tags.length > 0, shared: (call) => !!call.joined,
};

const tokenHelp = [
    ["service:", "the service's name"], ["host:", "the host"], ["path:", "a part of the path"],
    ["method:", "the procedure or the HTTP method"], ["status:", "404, 5xx or >=400"],
    ["error:", "a code such as timeout, a kind such as refused, or any"], ["code:", "the service's own code"],
    ["tag:", "a tag of the call"], ["slow:", ">1s, >200ms"], ["size:", ">10kB"],
    ["has:", Object.keys(traits).join(", ")],
    ["is:", "running, success, failed, cancelled"], ["cache:", "hit, miss, stale, validated"],
    ["engine:", "the engine's name"], ["body:", "text in a field or a body, before or after a stage"],
];

/** Splits a filter into its tokens; quotes keep spaces together. */
function splitTokens(text) {
    const tokens = [];
    const form = /(-?)(?:([A-Za-z]+):)?(?:"((?:[^"\\]|\\.)*)"?|(\S*))/y;
    let at = 0;
    while (at < text.length) {
        if (/\s/.test(text[at])) { at += 1; continue; }
        form.lastIndex = at;
        const found = form.exec(text);
        if (!found || found[0] === "") { at += 1; continue; }
        const value = found[3] !== undefined ? found[3].replace(/\\(.)/g, "$1") : found[4];
        tokens.push({ isNot: found[1] === "-", name: (found[2] ?? "").toLowerCase(), value, at, end: form.lastIndex });
        at = form.lastIndex;
    }
    return tokens;
}

const units = { ms: 1, s: 1000, min: 60000, "": 1, b: 1, kb: 1000, mb: 1e6, k: 1000, m: 1e6 };

/** A comparison such as >1s; null if it is none. */
function comparison(text, defaultSign = ">=") {
    const found = /^(>=|<=|>|<|=)?\s*(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text);
    const unit = found && own(units, found[3].toLowerCase());
    if (!found || unit === undefined) return null;
    const sign = found[1] ?? defaultSign, limit = Number(found[2]) * unit;
    return (value) => {
        if (value === null || value === undefined) return false;
        if (sign === ">") return value > limit;
        if (sign === "<") return value < limit;
        if (sign === ">=") return value >= limit;
        if (sign === "<=") return value <= limit;
        return value === limit;
    };
}

/** The test of one token; a text if it makes no sense. */
function testOf(token) {
    const value = token.value.toLowerCase();
    const contains = (get) => (call) => get(call).toLowerCase().includes(value);
    switch (token.name) {
        case "": return (call) => call.find.includes(value);
        case "body": return (call) => call.lower.includes(value);
        case "service": return contains((call) => call.service);
        case "host": return contains((call) => call.host);
        case "path": return contains((call) => call.path);
        case "method": return contains((call) => call.method + " " + call.http);
        case "tag": return (call) => call.tags.some((tag) => tag.toLowerCase().includes(value));
        case "engine": return contains((call) => call.engine);
        case "cache": return contains((call) => call.cache ?? "");
        case "code": return (call) => (call.serverCode ?? "").toLowerCase() === value;
        case "error":
            if (value === "any" || value === "") return (call) => !!call.code;
            return (call) => (call.code ?? "").includes(value) || call.kind === value;
        case "is": return (call) => call.state.startsWith(value);
        case "has": return own(traits, value) ?? "has: knows " + Object.keys(traits).join(", ");
        case "status": {
            const group = /^([1-5])xx$/.exec(value);
            if (group) return (call) => Math.floor((call.status ?? 0) / 100) === Number(group[1]);
            const test = comparison(value, "=");
            return test ? (call) => test(call.status) : "status: is a number, 5xx or >=400";
        }
        case "slow": {
            const test = comparison(value);
            return test ? (call) => test(call.duration) : "slow: is a time such as >1s or >200ms";
        }
        case "size": {
            const test = comparison(value);
            return test ? (call) => test(call.received) : "size: is a size such as >10kB";
        }
        default: return "there is no token " + token.name + ":";
    }
}

const allOf = new Set(["", "body", "has"]);

/** The test of a whole filter, and what is wrong with it. */
function parseFilter(text) {
    const all = [], groups = new Map();
    let problem = "";
    for (const token of splitTokens(text)) {
        if (token.value === "" && token.name !== "error") continue;
        // A URL is a word, not a token.
        if (/^\/\//.test(token.value) && (token.name === "http" || token.name === "https")) {
            token.value = token.name + ":" + token.value;
            token.name = "";
        }
        const test = testOf(token);
        if (typeof test === "string") { problem = test; continue; }
        if (token.isNot) all.push((call) => !test(call));
        else if (allOf.has(token.name)) all.push(test);
        else groups.set(token.name, [...(groups.get(token.name) ?? []), test]);
    }
    for (const tests of groups.values()) all.push((call) => tests.some((test) => test(call)));
    return { isEmpty: all.length === 0, problem, test: (call) => all.every((test) => test(call)) };
}

/** Suggestions for the token in which the text cursor is. */
function suggestionsFor(text, cursor, calls) {
    const token = splitTokens(text).find((token) => token.at <= cursor && cursor <= token.end)
        ?? { at: cursor, end: cursor, name: "", value: "", isNot: false };
    const start = token.isNot ? "-" : "";
    let choices;
    if (token.name === "") {
        choices = tokenHelp.filter(([name]) => name.startsWith(token.value.toLowerCase()));
    } else {
        const fixed = own({
            has: Object.keys(traits), is: ["running", "success", "failed", "cancelled"], slow: [">200ms", ">1s", ">10s"],
            status: ["2xx", "4xx", "5xx"], size: [">10kB", ">1MB"],
        }, token.name);
        const values = new Map();
        const get = own({
            service: (call) => [call.service], host: (call) => [call.host], method: (call) => [call.method],
            tag: (call) => call.tags, error: (call) => [call.code, call.kind], code: (call) => [call.serverCode],
            engine: (call) => [call.engine], cache: (call) => [call.cache], status: (call) => [call.status],
        }, token.name);
        // The latest ones are enough for suggestions.
        if (get) for (const call of calls.slice(-2000)) {
            for (const value of get(call)) if (value) values.set(String(value), (values.get(String(value)) ?? 0) + 1);
        }
        const found = [...values].sort((one, other) => other[1] - one[1]).map(([value, count]) => [value, plural(count, "call")]);
        choices = [...found, ...(fixed ?? []).map((value) => [value, ""])]
            .filter(([value]) => value.toLowerCase().startsWith(token.value.toLowerCase()) && value !== token.value)
            .map(([value, help]) => [token.name + ":" + (/\s/.test(value) ? JSON.stringify(value) : value) + " ", help]);
    }
    return choices.slice(0, 10).map(([value, help]) => ({ at: token.at, end: token.end, text: start + value, help }));
}
