// A call as a command of curl, as HAR and as Swift.

/** Marks in place of secrets, which are never sent. */
const redactionMark = /\(redacted\)|redacted-\d+/g;

/** How much of a body is kept: all, all but secrets, or nothing but its size. */
const kindOf = (message) => message?.kind ?? ((message?.body ?? "").search(redactionMark) < 0 ? "exact" : "redacted");

/** Names that a shell gives a meaning of its own. */
const shellNames = /^(PATH|HOME|USER|SHELL|PWD|OLDPWD|IFS|LANG|TERM|TMPDIR|EDITOR|HOST|HOSTNAME|LOGNAME|MAIL|UID|EUID|PPID|DISPLAY|NAME|ENV|PS\d|LD_.*|LC_.*|CURL_.*|.*_PROXY)$/;

/** Gives each mark a name: of the member, the parameter or the field whose value it is in. The same number is the same secret. */
function markNames() {
    const names = new Map(), used = new Set();
    const free = (text) => {
        let base = text.toUpperCase().replace(/[^A-Z0-9]+/g, "_").replace(/^(?=\d)/, "_") || "SECRET";
        if (shellNames.test(base)) base += "_VALUE";
        let name = base;
        for (let number = 2; used.has(name); number += 1) name = base + "_" + number;
        used.add(name);
        return name;
    };
    return {
        used,
        nameOf(mark, before, place) {
            if (mark !== "(redacted)" && names.has(mark)) return names.get(mark);
            const member = /"([^"\\]{1,60})"\s*:\s*"?[^",]*$|(?:^|[?&])([^=&?]{1,60})=[^&=]*$/.exec(before.slice(-200));
            const name = free(mark === "(redacted)" ? member?.[1] ?? member?.[2] ?? place : mark);
            names.set(mark, name);
            return name;
        },
    };
}

/** Characters that could control a terminal, or show a text in another order than it is sent; a line break isn't one. */
const hiddenCharacters = /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]+/;

/** A text as a shell's word, without a character that a terminal would act on. */
function quotedForShell(text) {
    const octal = (part) => [...new TextEncoder().encode(part)].map((byte) => "\\" + byte.toString(8).padStart(3, "0")).join("");
    return text.split(new RegExp("(" + hiddenCharacters.source + ")")).map((part, index) => {
        if (part === "") return "";
        return index % 2 === 1 ? "\"$(printf '" + octal(part) + "')\"" : "'" + part.replace(/'/g, "'\\''") + "'";
    }).join("");
}

/** A word of a shell, with variables in place of marks; a shell ends with an error if one isn't set. */
function shellWord(text, names, place) {
    let out = "", at = 0;
    for (const found of text.matchAll(redactionMark)) {
        out += quotedForShell(text.slice(at, found.index)) + "\"${" + names.nameOf(found[0], text.slice(0, found.index), place) + ":?}\"";
        at = found.index + found[0].length;
    }
    return out + quotedForShell(text.slice(at)) || "''";
}

/** Whether curl can take a request for nothing else: a field `@h` would be a file, and a line break a second field. */
function fitsCurl(request) {
    const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
    return /^https?:/i.test(request.url) && !request.url.includes("\0") && token.test(request.method)
        && !(request.body ?? "").includes("\0")
        && request.fields.every(([name, value]) => token.test(name) && !/[\0\r\n]/.test(value));
}

/**
 * A command that sends the same bytes, once its variables are set, and the names of these. JSON that had secrets was
 * written again, so its spaces and escapes may differ. Null for a request that curl could take for something else.
 */
function asCurl(exchange) {
    const { request } = exchange;
    if (!fitsCurl(request)) return null;
    const names = markNames();
    const words = ["curl", "-q", "--proto '=http,https'", "--globoff", "--path-as-is"];
    const has = (name) => request.fields.some(([other]) => other.toLowerCase() === name);
    const hasBody = (request.body ?? "") !== "" || !!request.base64;
    if (request.method === "HEAD") words.push("--head");
    else if (request.method !== (hasBody ? "POST" : "GET")) words.push("-X " + shellWord(request.method, names, "method"));
    for (const [name, value] of request.fields) {
        if (["content-length", "host"].includes(name.toLowerCase())) continue;
        words.push("-H " + shellWord(value === "" ? name + ";" : name + ": " + value, names, name));
    }
    // What curl would add by itself.
    for (const name of ["Accept", "User-Agent", ...(hasBody ? ["Content-Type", "Expect"] : [])]) {
        if (!has(name.toLowerCase())) words.push("-H '" + name + ":'");
    }
    let before = "";
    if (request.base64) {
        before = "base64 -d <<'END' | ";
        words.push("--data-binary @-");
    } else if (hasBody) {
        words.push("--data-raw " + shellWord(request.body, names, "body"));
    }
    words.push("--url " + shellWord(request.url, names, "query"));
    const text = before + words.join(" \\\n    ") + (request.base64 ? "\n" + request.base64 + "\nEND" : "");
    return { text, names: [...names.used] };
}

/** The IP address of a text that may have a port, such as `[2001:db8::1]:8443`. */
const ipOf = (text) => /^\[(.*)\]/.exec(text)?.[1] ?? (text.split(":").length === 2 ? text.split(":")[0] : text);

/** One entry as HAR 1.2. */
function asHAR(call, detail) {
    const { request, response } = detail.exchange;
    const pairs = (fields) => fields.map(([name, value]) => ({ name, value }));
    const typeOf = (message) => fieldOf(message, "content-type") ?? "";
    const url = new URL(request.url, "https://invalid.");
    const content = { size: call.received ?? 0, mimeType: typeOf(response) };
    if (response?.base64) Object.assign(content, { text: response.base64, encoding: "base64" });
    else if (response?.body && kindOf(response) !== "omitted") content.text = response.body;
    const hop = detail.attempts.flatMap((attempt) => attempt.hops).at(-1), last = hop?.timings, version = hop?.version ?? "";
    const span = (until, from) => (until > from ? until - from : until > 0 ? 0 : -1);
    const entry = {
        startedDateTime: new Date(call.start ?? 0).toISOString(), time: call.duration ?? 0,
        request: {
            method: request.method, url: request.url, httpVersion: version, cookies: [], headers: pairs(request.fields),
            queryString: [...url.searchParams].map(([name, value]) => ({ name, value })), headersSize: -1, bodySize: request.body?.length ?? 0,
        },
        response: {
            status: call.status ?? 0, statusText: "", httpVersion: version, cookies: [], headers: pairs(response?.fields ?? []),
            content, redirectURL: "", headersSize: -1, bodySize: call.received ?? -1,
        },
        cache: {},
        timings: {
            blocked: -1, dns: last ? span(last.name, 0) : -1, connect: last ? span(last.secured || last.connected, last.name) : -1,
            ssl: last ? span(last.secured, last.connected) : -1, send: 0,
            wait: last ? Math.max(0, last.firstByte - Math.max(last.secured, last.connected, last.name)) : call.duration ?? 0,
            receive: last ? Math.max(0, last.total - last.firstByte) : 0,
        },
        _signet: { call: call.id, service: call.service, method: call.method, stages: detail.stages, cache: detail.cache, code: call.code },
    };
    const use = hop?.address, ip = use?.address ? ipOf(use.address) : "";
    if (ip) entry.serverIPAddress = ip;
    // As in a recording: the parts that the field above can't hold.
    if (use) entry._signet.address = { ...(use.address && use.address !== ip ? { address: use.address } : {}), reason: use.reason, ...(use.failed.length > 0 ? { failed: use.failed } : {}) };
    // The text of a body in base64 is only words.
    if ((request.body ?? "") !== "" && kindOf(request) !== "omitted" && !request.base64) entry.request.postData = { mimeType: typeOf(request), text: request.body };
    // A mark in place of a secret has a number, as in a recording.
    let number = 0;
    const text = JSON.stringify({ log: { version: "1.2", creator: { name: "signet", version: "" }, entries: [entry] } }, null, 2);
    return text.replace(/\(redacted\)/g, () => "redacted-" + (number += 1));
}

/** A text of Swift, with placeholders, which don't compile, in place of marks. */
function swiftText(text, names, place) {
    const parts = [];
    let at = 0;
    for (const found of text.matchAll(redactionMark)) {
        if (found.index > at) parts.push(swiftLiteral(text.slice(at, found.index)));
        parts.push("<#" + names.nameOf(found[0], text.slice(0, found.index), place) + "#>");
        at = found.index + found[0].length;
    }
    if (at < text.length || parts.length === 0) parts.push(swiftLiteral(text.slice(at)));
    return parts.length === 1 ? parts[0] : "(" + parts.join(" + ") + ")";
}

/** A literal of Swift, raw so that nothing in it is an escape. */
function swiftLiteral(text) {
    if (/[\u0000-\u0008\u000b-\u001f\u007f\n]/.test(text)) {
        return "\"" + text.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n").replace(/\r/g, "\\r").replace(/\t/g, "\\t")
            .replace(/[\u0000-\u001f\u007f]/g, escaped) + "\"";
    }
    let hashes = "";
    while (text.includes("\"" + hashes) || text.includes("\\" + hashes)) hashes += "#";
    return hashes + "\"" + text + "\"" + hashes;
}

/** Statements of Swift that make the call. */
function asSwift(call, detail) {
    const { request } = detail.exchange;
    const names = markNames();
    const head = "import SignetClient\n\n";
    const built = detail.contents.find((part) => part.stage === "building")?.before;
    if (call.isRPC && built) {
        const lines = ["let call = try RPCCall("];
        if (built.body) {
            const kind = built.body.trimStart().startsWith("[") ? "array" : "object";
            lines[0] = "let parameters = try JSONValue(parsing: Array(" + swiftText(built.body, names, "body") + ".utf8))";
            lines.push("let call = RPCCall(" + swiftLiteral(call.method) + ", parameters: ." + kind + "(parameters." + kind + "!))");
        } else {
            lines[0] = "let call = RPCCall(" + swiftLiteral(call.method) + ")";
        }
        lines.push("let response = try await system.call(call, on: " + swiftLiteral(call.service) + ")", "print(response.result?.value as Any)");
        return (built.body ? "import SignetJSON\n" : "") + head + lines.join("\n") + "\n";
    }
    const fields = request.fields.filter(([name]) => !madeFields.has(name.toLowerCase()));
    const lines = ["let response = try await system.exchange(", "    " + swiftLiteral(call.service) + ", method: .init(" + swiftLiteral(request.method) + ")!,",
        "    target: " + swiftText(pathOf(request.url), names, "query") + ",",
        "    fields: [" + fields.map(([name, value]) => ".init(" + swiftLiteral(name) + ")!: " + swiftText(value, names, name)).join(", ") + (fields.length ? "" : ":") + "],",
        "    body: Array(" + swiftText(request.body ?? "", names, "body") + ".utf8))", "print(response.status, String(decoding: response.body, as: UTF8.self))"];
    return head + "import HTTPTypes\n".repeat(fields.length > 0 ? 1 : 0) + lines.join("\n") + "\n";
}

/** Fields that the system makes new for each request. */
const madeFields = new Set(["host", "content-length", "signature", "signature-input", "content-digest", "signet-signature", "authorization", "cookie", "dpop", "traceparent", "tracestate"]);

/** The path and the query of a URL, as they are. */
const pathOf = (url) => /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*([^#]*)/i.exec(url)?.[1] || "/";
