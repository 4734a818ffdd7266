// The part of the calls that is on the screen.

const rowHeight = 44;

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

/** Why a result is worth a second look, as words and what they mean. */
function notesOf(call) {
    const notes = [];
    if (call.attempts > 1) notes.push(["×" + call.attempts, call.attempts + " attempts"]);
    if (call.cache === "stale") notes.push(["stale", "A stored response whose time was over"]);
    if (call.isSimulated) notes.push(["simulated", "A switch made a failure"]);
    return notes;
}

/** Short marks of what else happened on the way. */
function chipsOf(call) {
    const chips = [];
    if (call.redirects > 0) chips.push(["→" + call.redirects, "", plural(call.redirects, "redirect")]);
    if (call.stubs.length > 0) chips.push(["stub", "warning", "A stub acted"]);
    if (call.source && !["server", "cache"].includes(call.source)) chips.push([call.source, "warning", "The response's origin"]);
    if (call.pin === "match") chips.push(["pin", "good", "The server's key is pinned"]);
    if (call.pin === "mismatch") chips.push(["pin ≠", "bad", "The server's key isn't pinned"]);
    if (call.isSigned) chips.push(["signed", "", "The request was signed"]);
    if (call.cache && !["bypassed", "stale"].includes(call.cache)) chips.push([call.cache, "", "The cache's decision"]);
    if (call.joined) chips.push(["shared", "", "It shares the work of call #" + call.joined]);
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
        this.head = null;
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

    /** Keeps what is read in its place when lines above it are gone. */
    lift(count) {
        if (count > 0 && (!this.follows || this.chosen !== null)) this.box.scrollTop -= count * rowHeight;
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
            // Newer calls above don't move what is read.
            const grown = height - (this.height ?? height);
            const keeps = this.view.order === "newest" && this.view.group === "" && grown > 0 && this.box.scrollTop > 0 && this.keepsPlace;
            this.keepsPlace = true;
            this.height = height;
            this.rows.style.height = height + "px";
            if (this.follows && this.view.order === "start" && this.chosen === null) this.box.scrollTop = height;
            if (keeps) this.box.scrollTop += grown;
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
        const active = this.head !== null ? this.entryOfHead() : this.chosen === null ? -1 : this.entryOf(this.chosen);
        if (active >= first && active < last) this.box.setAttribute("aria-activedescendant", "entry-" + active);
        else this.box.removeAttribute("aria-activedescendant");
    }

    makeRow() {
        const parts = {};
        for (const name of ["state", "chips", "size"]) parts[name] = make("span");
        // Two lines each.
        for (const [name, first, second] of [["name", "first", "second"], ["result", "word", "notes"], ["time", "took", "began"]]) {
            parts[first] = make("span", { class: "first" });
            parts[second] = make("span", { class: "second" });
            parts[name] = make("span", {}, parts[first], parts[second]);
        }
        parts.notes.className = "second notes warning";
        parts.chips.className = "chips";
        for (const name of ["size", "time"]) parts[name].className = "number";
        const element = make("div", { class: "row", role: "option" },
            parts.state, parts.name, parts.result, parts.chips, parts.size, parts.time);
        return { element, parts, isShown: true, call: undefined };
    }

    fill(row, entry) {
        const place = this.view.entries[entry];
        const call = place >= 0 ? this.view.calls.all[place] : null;
        const isChosen = call !== null ? this.head === null && call.id === this.chosen
            : this.head !== null && this.view.groups[-place - 1].name === this.head;
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
        if (row.call === shown && row.isClosed === isClosed && row.isMarked === isMarked) return;
        row.call = shown;
        row.isMarked = isMarked;
        row.isClosed = isClosed;
        if (call === null) {
            parts.state.textContent = isClosed ? "▸" : "▾";
            parts.first.textContent = short(shown.name || "(none)", 100);
            parts.second.textContent = isClosed ? "closed" : "";
            parts.word.textContent = plural(shown.count, "call") + (shown.failures ? ", " + plural(shown.failures, "failure") : "");
            parts.word.className = "first";
            parts.state.className = "";
            for (const name of ["notes", "size", "took", "began"]) parts[name].textContent = "";
            parts.chips.replaceChildren();
            element.setAttribute("aria-label", short(shown.name || "(none)", 100) + ", group of " + parts.word.textContent + (isClosed ? ", closed" : ", open"));
            return;
        }
        const [symbol, word, tone] = own(states, call.state) ?? states.running;
        parts.state.textContent = symbol;
        const notes = notesOf(call), isStale = call.cache === "stale";
        if (isMarked) notes.unshift(["marked", "Marked for a comparison"]);
        parts.state.className = (isStale ? "warning" : tone) + (call.state === "running" ? " running" : "");
        parts.state.title = word;
        parts.first.textContent = short(nameOf(call));
        parts.second.textContent = short(["#" + call.id, call.isRPC ? call.host + call.path : call.host, call.service].filter(Boolean).join(" · "));
        parts.name.title = short(call.url ?? nameOf(call), 500);
        parts.word.textContent = short(resultOf(call), 60);
        parts.word.className = "first " + (call.state === "success" ? (call.status >= 400 || isStale ? "warning" : "") : tone);
        parts.notes.textContent = notes.map(([text]) => text).join(" · ");
        parts.size.textContent = showSize(call.received);
        parts.took.textContent = showTime(call.duration);
        parts.began.textContent = showClock(call.start);
        const chips = chipsOf(call);
        element.setAttribute("aria-label", [nameOf(call), call.host, resultOf(call), word, parts.took.textContent, ...notes.map(([, title]) => title), ...chips.map(([text, , title]) => title === "Tag" ? "tag " + text : title)]
            .filter(Boolean).map((text) => short(text, 200)).join(", "));
        parts.chips.replaceChildren(...chips.map(([text, tone, title]) => make("span", { class: "chip " + tone, text, title })));
    }

    entryOf(id) {
        const place = this.view.calls.places.get(id);
        return place === undefined ? -1 : this.view.entries.indexOf(place);
    }

    /** The entry of the chosen head of a group; -1 if none is chosen. */
    entryOfHead() {
        if (this.head === null) return -1;
        const at = this.view.groups.findIndex((group) => group.name === this.head);
        return at < 0 ? -1 : this.view.entries.indexOf(-at - 1);
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
            this.head = name;
            if (!this.view.closed.delete(name)) this.view.closed.add(name);
            this.view.arrange();
            return;
        }
        const call = this.view.calls.all[place];
        if (isMark) { this.mark(call); return; }
        this.chosen = call.id;
        this.head = null;
        this.at = entry;
        this.reveal(entry);
        this.draw();
        this.choose(call);
    }

    key(event) {
        if (event.ctrlKey || event.altKey || event.metaKey) return;
        const { length } = this.view.entries;
        const page = Math.max(1, Math.floor(this.box.clientHeight / rowHeight) - 1);
        const head = this.entryOfHead();
        const known = head >= 0 ? head : this.chosen === null ? -1 : this.entryOf(this.chosen);
        const now = known >= 0 ? known : this.at ?? (this.view.order === "start" && this.follows ? length : -1);
        const steps = {
            ArrowDown: now + 1, ArrowUp: now - 1, j: now + 1, k: now - 1, PageDown: now + page, PageUp: now - page,
            Home: 0, End: length - 1,
        };
        if (event.key in steps && length > 0) {
            event.preventDefault();
            const entry = Math.min(length - 1, Math.max(0, steps[event.key]));
            if (this.view.entries[entry] >= 0) { this.open(entry); return; }
            // The head of a group is chosen, and opened or closed with Enter and the arrows.
            this.head = this.view.groups[-this.view.entries[entry] - 1].name;
            this.at = entry;
            this.reveal(entry);
            this.draw();
        } else if (head >= 0 && (["Enter", " "].includes(event.key)
            || event.key === (this.view.closed.has(this.head) ? "ArrowRight" : "ArrowLeft"))) {
            event.preventDefault();
            this.open(head);
        } else if (event.key === "Enter" && this.chosen !== null) {
            event.preventDefault();
            byID("detail").focus();
        } else if (event.key === "x" && head < 0 && known >= 0) {
            this.mark(this.view.calls.all[this.view.entries[known]]);
        }
    }
}
