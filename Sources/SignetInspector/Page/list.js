// The calls, those that the filter shows, and the part of them that is on the screen.

const rowHeight = 44;

/** All calls that the page knows. */
class Calls {
    constructor() {
        this.all = [];
        this.places = new Map();
    }

    /** Adds calls, or replaces those that it has; returns the places of new ones and whether others changed. */
    take(rows) {
        const first = this.all.length;
        const changed = [];
        for (const row of rows) {
            // The text of searches, once and in lower case.
            row.find = [row.method, row.http, row.url, row.service, row.code, row.serverCode, row.status, ...row.tags]
                .filter(Boolean).join(" ").toLowerCase();
            row.lower = (row.text ?? "").toLowerCase();
            delete row.text;
            const place = this.places.get(row.id);
            if (place === undefined) {
                this.places.set(row.id, this.all.length);
                this.all.push(row);
            } else {
                this.all[place] = row;
                changed.push(place);
            }
        }
        return { first, changed };
    }

    clear() {
        this.all = [];
        this.places.clear();
    }
}

/** Whole numbers by which calls are ordered, the largest first; in 10 µs and in bytes. */
const orders = {
    duration: (call) => Math.round((call.duration ?? 8e7) * 100),
    size: (call) => call.received ?? 0,
};
const orderLimit = 2 ** 33 - 1, placeLimit = 2 ** 20;

/**
 * The places of the calls that the filter lets through, in the order and the groups of the reader. An entry below zero
 * is the head of group -entry-1.
 */
class View {
    constructor(calls, changed) {
        this.calls = calls;
        this.changed = changed;
        this.filter = parseFilter("");
        this.group = "";
        this.order = "start";
        this.closed = new Set();
        this.found = [];
        this.entries = [];
        this.groups = [];
        this.isSearching = false;
        this.stop = () => {};
    }

    setFilter(text) {
        this.filter = parseFilter(text);
        this.search();
        return this.filter.problem;
    }

    /** Looks through all calls, newest first, so that the first results are there at once. */
    search() {
        this.stop();
        const { all } = this.calls;
        if (this.filter.isEmpty) {
            this.found = Array.from(all.keys());
            this.isSearching = false;
            this.arrange();
            return;
        }
        const found = [];
        let at = all.length - 1, shown = performance.now();
        this.found = found;
        this.isSearching = true;
        const step = () => {
            const end = performance.now() + slice;
            let count = 0;
            while (at >= 0) {
                if (this.filter.test(all[at])) found.push(at);
                at -= 1;
                if ((count += 1) % 16 === 0 && performance.now() > end) break;
            }
            const isDone = at < 0;
            this.isSearching = !isDone;
            // The first results at once, later ones a few times a second.
            if (isDone || (found.length > 0 && performance.now() - shown > 100) || (this.entries.length === 0 && found.length > 0)) {
                shown = performance.now();
                this.found = isDone ? found.reverse() : found.slice().reverse();
                this.arrange();
            }
            return isDone;
        };
        this.found = [];
        this.entries = [];
        if (!step()) {
            this.changed();
            this.stop = inSlices(step);
        }
    }

    /** Takes the calls that came or changed since. */
    take({ first, changed }) {
        const { all } = this.calls;
        if (this.isSearching) { this.search(); return; }
        let isWhole = changed.length > 0 && (!this.filter.isEmpty || this.order === "duration" || this.order === "size");
        if (isWhole) {
            const had = new Set(this.found);
            for (const place of changed) if (this.filter.test(all[place]) !== had.has(place)) { this.search(); return; }
        }
        let added = 0;
        for (let place = first; place < all.length; place += 1) {
            if (this.filter.test(all[place])) { this.found.push(place); added += 1; }
        }
        if (added > 0 && this.group === "" && this.order === "start") {
            for (const place of this.found.slice(-added)) this.entries.push(place);
            this.changed();
        } else if (added > 0 || isWhole) {
            this.arrange();
        } else {
            this.changed();
        }
    }

    /** Orders and groups what was found. */
    arrange() {
        const { all } = this.calls;
        let places = this.found.slice();
        if (this.order === "newest") places.reverse();
        const key = orders[this.order];
        if (key) {
            // Key and place in one number, because an array of numbers is sorted without calls of a function.
            const packed = new Float64Array(places.length);
            places.forEach((place, at) => {
                packed[at] = (orderLimit - Math.min(Math.max(key(all[place]), 0), orderLimit)) * placeLimit + place;
            });
            places = Array.from(packed.sort(), (number) => number % placeLimit);
        }
        this.groups = [];
        if (this.group !== "") {
            const members = new Map();
            for (const place of places) {
                const name = all[place][this.group];
                if (!members.has(name)) members.set(name, []);
                members.get(name).push(place);
            }
            places = [];
            for (const name of [...members.keys()].sort()) {
                const own = members.get(name);
                this.groups.push({ name, count: own.length, failures: own.filter((place) => all[place].state === "failed").length });
                places.push(-this.groups.length);
                if (!this.closed.has(name)) for (const place of own) places.push(place);
            }
        }
        this.entries = places;
        this.changed();
    }
}

const states = {
    running: ["…", "running", "idle"], success: ["✓", "succeeded", "good"], failed: ["✕", "failed", "bad"],
    cancelled: ["⊘", "cancelled", "idle"],
};

/** What a call is called: the procedure, or the HTTP method and the path. */
const nameOf = (call) => (call.isRPC ? call.method : (call.http || call.method) + " " + (call.path || "/"));

/** How the call ended, in a word. */
function resultOf(call) {
    if (call.state === "running") return "running";
    if (call.serverCode !== null && call.serverCode !== undefined) return "code " + call.serverCode;
    if (call.code && call.code !== "http-status") return call.code;
    return call.status ? String(call.status) : "done";
}

/** Short marks of what happened on the way. */
function chipsOf(call) {
    const chips = [];
    if (call.attempts > 1) chips.push(["×" + call.attempts, "warning", call.attempts + " attempts"]);
    if (call.redirects > 0) chips.push(["→" + call.redirects, "", plural(call.redirects, "redirect")]);
    if (call.isSimulated) chips.push(["simulated", "warning", "A switch made the failure"]);
    if (call.stubs.length > 0) chips.push(["stub", "warning", "A stub acted"]);
    if (call.source && !["server", "cache"].includes(call.source)) chips.push([call.source, "warning", "The response's origin"]);
    if (call.pin === "match") chips.push(["pin", "good", "The server's key is pinned"]);
    if (call.pin === "mismatch") chips.push(["pin ≠", "bad", "The server's key isn't pinned"]);
    if (call.isSigned) chips.push(["signed", "", "The request was signed"]);
    if (call.cache && call.cache !== "bypassed") chips.push([call.cache, call.cache === "stale" ? "warning" : "", "The cache's decision"]);
    if (call.joined) chips.push(["shared", "", "It shares the work of call " + call.joined]);
    for (const tag of call.tags) chips.push(["#" + short(tag, 30), "", "Tag"]);
    return chips;
}

/** Shows the entries of a view. Only the rows on the screen exist, and they are used again. */
class List {
    constructor(view, choose, mark) {
        this.view = view;
        this.choose = choose;
        this.mark = mark;
        this.box = byID("list");
        this.rows = byID("rows");
        this.pool = [];
        this.chosen = null;
        this.marked = null;
        this.isDue = false;
        this.follows = true;
        this.box.addEventListener("scroll", () => {
            this.follows = this.box.scrollTop + this.box.clientHeight >= this.rows.offsetHeight - rowHeight;
            this.draw();
        }, { passive: true });
        new ResizeObserver(() => this.draw()).observe(this.box);
        this.rows.addEventListener("click", (event) => {
            const row = event.target.closest(".row");
            if (row) this.open(Number(row.dataset.entry), event.ctrlKey || event.metaKey);
        });
        this.box.addEventListener("keydown", (event) => this.key(event));
    }

    /** Draws with the next frame. */
    draw() {
        if (this.isDue) return;
        this.isDue = true;
        requestAnimationFrame(() => {
            this.isDue = false;
            this.drawNow();
        });
    }

    drawNow() {
        const { entries } = this.view;
        const height = entries.length * rowHeight;
        if (this.height !== height) {
            this.height = height;
            this.rows.style.height = height + "px";
            if (this.follows && this.view.order === "start" && this.chosen === null) this.box.scrollTop = height;
        }
        const first = Math.max(0, Math.floor(this.box.scrollTop / rowHeight) - 4);
        const last = Math.min(entries.length, Math.ceil((this.box.scrollTop + this.box.clientHeight) / rowHeight) + 4);
        while (this.pool.length < last - first) {
            const row = this.makeRow();
            this.pool.push(row);
            this.rows.append(row.element);
        }
        const count = this.pool.length;
        const used = new Set();
        for (let entry = first; entry < last; entry += 1) {
            const row = this.pool[entry % count];
            used.add(row);
            this.fill(row, entry);
        }
        for (const row of this.pool) {
            const isShown = used.has(row);
            if (row.isShown !== isShown) {
                row.isShown = isShown;
                row.element.hidden = !isShown;
                if (!isShown) row.element.removeAttribute("id");
            }
        }
        const active = this.chosen === null ? -1 : this.entryOf(this.chosen);
        if (active >= first && active < last) this.box.setAttribute("aria-activedescendant", "entry-" + active);
        else this.box.removeAttribute("aria-activedescendant");
    }

    makeRow() {
        const parts = {};
        for (const name of ["state", "name", "result", "chips", "size", "time", "began"]) parts[name] = make("span");
        parts.first = make("span", { class: "first" });
        parts.second = make("span", { class: "second" });
        parts.name.append(parts.first, parts.second);
        parts.result.className = "result";
        parts.chips.className = "chips";
        for (const name of ["size", "time", "began"]) parts[name].className = "number";
        const element = make("div", { class: "row", role: "option" },
            parts.state, parts.name, parts.result, parts.chips, parts.size, parts.time, parts.began);
        return { element, parts, isShown: true, call: undefined };
    }

    fill(row, entry) {
        const place = this.view.entries[entry];
        const call = place >= 0 ? this.view.calls.all[place] : null;
        const isChosen = call !== null && call.id === this.chosen;
        const isMarked = call !== null && call.id === this.marked;
        const look = (call ? "row" : "row group") + (isChosen ? " chosen" : "") + (isMarked ? " marked" : "");
        const { element, parts } = row;
        if (row.entry !== entry) {
            row.entry = entry;
            element.dataset.entry = entry;
            element.id = "entry-" + entry;
            element.style.transform = "translateY(" + entry * rowHeight + "px)";
            element.setAttribute("aria-posinset", entry + 1);
        } else if (element.id === "") {
            element.id = "entry-" + entry;
        }
        if (row.look !== look) {
            row.look = look;
            element.className = look;
            element.setAttribute("aria-selected", isChosen);
        }
        if (row.size !== this.view.entries.length) {
            row.size = this.view.entries.length;
            element.setAttribute("aria-setsize", row.size);
        }
        const shown = call ?? this.view.groups[-place - 1];
        const isClosed = call === null && this.view.closed.has(shown.name);
        if (row.call === shown && row.isClosed === isClosed) return;
        row.call = shown;
        row.isClosed = isClosed;
        if (call === null) {
            parts.state.textContent = isClosed ? "▸" : "▾";
            parts.first.textContent = short(shown.name || "(none)", 100);
            parts.second.textContent = isClosed ? "closed" : "";
            parts.result.textContent = plural(shown.count, "call") + (shown.failures ? ", " + plural(shown.failures, "failure") : "");
            parts.result.className = "result";
            parts.state.className = "";
            for (const name of ["size", "time", "began"]) parts[name].textContent = "";
            parts.chips.replaceChildren();
            return;
        }
        const [symbol, word, tone] = states[call.state] ?? states.running;
        parts.state.textContent = symbol;
        parts.state.className = tone + (call.state === "running" ? " running" : "");
        parts.state.title = word;
        parts.first.textContent = short(nameOf(call));
        parts.second.textContent = short([call.isRPC ? call.host + call.path : call.host, call.service].filter(Boolean).join(" · "));
        parts.name.title = short(call.url ?? nameOf(call), 500);
        parts.result.textContent = short(resultOf(call), 60);
        parts.result.className = "result " + (call.state === "success" ? (call.status >= 400 ? "warning" : "") : tone);
        parts.size.textContent = call.received === null || call.received === undefined ? "" : showSize(call.received);
        parts.time.textContent = call.duration === null || call.duration === undefined ? "" : showTime(call.duration);
        parts.began.textContent = showClock(call.start).slice(0, 12);
        parts.chips.replaceChildren(...chipsOf(call).map(([text, tone, title]) => make("span", { class: "chip " + tone, text, title })));
    }

    entryOf(id) {
        const place = this.view.calls.places.get(id);
        return place === undefined ? -1 : this.view.entries.indexOf(place);
    }

    /** Shows an entry of the list on the screen. */
    reveal(entry) {
        const top = entry * rowHeight;
        if (top < this.box.scrollTop) this.box.scrollTop = top;
        else if (top + rowHeight > this.box.scrollTop + this.box.clientHeight) {
            this.box.scrollTop = top + rowHeight - this.box.clientHeight;
        }
    }

    open(entry, isMark = false) {
        const place = this.view.entries[entry];
        if (place === undefined) return;
        if (place < 0) {
            const { name } = this.view.groups[-place - 1];
            if (!this.view.closed.delete(name)) this.view.closed.add(name);
            this.view.arrange();
            return;
        }
        const call = this.view.calls.all[place];
        if (isMark) { this.mark(call); return; }
        this.chosen = call.id;
        this.at = entry;
        this.reveal(entry);
        this.draw();
        this.choose(call);
    }

    key(event) {
        if (event.ctrlKey || event.altKey || event.metaKey) return;
        const { length } = this.view.entries;
        const page = Math.max(1, Math.floor(this.box.clientHeight / rowHeight) - 1);
        const known = this.chosen === null ? -1 : this.entryOf(this.chosen);
        const now = known >= 0 ? known : this.at ?? (this.view.order === "start" && this.follows ? length : -1);
        const steps = {
            ArrowDown: now + 1, ArrowUp: now - 1, j: now + 1, k: now - 1, PageDown: now + page, PageUp: now - page,
            Home: 0, End: length - 1,
        };
        if (event.key in steps && length > 0) {
            event.preventDefault();
            let entry = Math.min(length - 1, Math.max(0, steps[event.key]));
            // The head of a group isn't a call.
            const step = steps[event.key] < now || event.key === "End" ? -1 : 1;
            while (entry > 0 && entry < length - 1 && this.view.entries[entry] < 0) entry += step;
            if (this.view.entries[entry] < 0) entry = Math.min(length - 1, entry + 1);
            if (this.view.entries[entry] >= 0) this.open(entry);
        } else if (event.key === "Enter" && this.chosen !== null) {
            event.preventDefault();
            byID("detail").focus();
        } else if (event.key === "x" && known >= 0) {
            this.mark(this.view.calls.all[this.view.entries[known]]);
        }
    }
}
