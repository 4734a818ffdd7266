// Joins the parts: the source, the list, the chosen call, the filter and its views, and the keyboard.

const builtInViews = [
    ["All", ""], ["Failures", "is:failed"], ["Slow", "slow:>1s"], ["Retries", "has:retry"], ["Pins", "error:pin error:unlisted-host error:policy-expired"],
    ["From the cache", "has:cache -cache:miss -cache:bypassed"], ["Simulated", "has:simulated"],
];

class App {
    constructor() {
        this.source = makeSource();
        this.calls = new Calls();
        this.about = { switches: null, services: [], engines: [] };
        this.details = new Map();
        this.view = new View(this.calls, () => this.viewChanged());
        this.list = new List(this.view, (call) => this.choose(call), (call) => this.markCall(call));
        this.views = memory.read("views", []);
        this.filterBox = byID("filter");
        this.listen();
        this.showViews();
        this.source.run((answer) => this.take(answer), (state, message) => this.showState(state, message));
    }

    listen() {
        const filter = this.filterBox;
        filter.addEventListener("input", () => { this.applyFilter(); this.suggest(); });
        filter.addEventListener("click", () => this.suggest());
        filter.addEventListener("blur", () => setTimeout(() => this.closeSuggestions(), 150));
        filter.addEventListener("keydown", (event) => this.filterKey(event));
        byID("bar").addEventListener("submit", (event) => event.preventDefault());
        byID("group").addEventListener("change", () => { this.view.group = byID("group").value; this.view.arrange(); });
        byID("order").addEventListener("change", () => { this.view.order = byID("order").value; this.list.follows = false; this.list.keepsPlace = false; this.list.box.scrollTop = 0; this.view.arrange(); });
        byID("open-help").addEventListener("click", () => this.help());
        byID("open-switches").addEventListener("click", () => openSwitches(this));
        document.addEventListener("keydown", (event) => this.key(event));
        byID("detail").addEventListener("keydown", (event) => { if (event.key === "Escape") { event.stopPropagation(); this.close(); } });
    }

    take({ calls, about, dropped, oldest }) {
        if (about) {
            this.about = about;
            this.showAbout();
        }
        if (dropped > (this.dropped ?? 0)) this.dropped = dropped;
        const moved = this.calls.drop(oldest);
        if (moved) {
            this.list.lift(this.view.move(moved));
            const gone = byID("gone");
            if (gone) gone.hidden = !this.isGone();
        }
        if (!calls || calls.length === 0) { this.viewChanged(); return; }
        const news = this.calls.take(calls);
        this.view.take(news);
        if (this.shown && news.changed.some((place) => this.calls.all[place].id === this.shown.id)) {
            this.choose(this.calls.all[this.calls.places.get(this.shown.id)], true);
        }
    }

    /** Whether the shown call left the list. */
    isGone() { return this.shown !== null && !this.calls.places.has(this.shown.id); }

    showAbout() {
        const { mode, title, isSwitchable, switches, version } = this.about;
        document.title = (title ? oneLine(title) + " – " : "") + "Calls";
        const badge = byID("mode");
        badge.hidden = !mode;
        badge.replaceChildren(oneLine(mode ?? ""), make("span", { class: "wide-only", text: " mode" }));
        badge.className = "badge" + (mode && mode !== "production" ? " warning" : "");
        byID("secrets").hidden = !this.about.hasSecrets;
        byID("source").textContent = [title, version && "signet " + version].filter(Boolean).map(oneLine).join(" · ");
        // Only if they are others, because the buttons are made again.
        const views = JSON.stringify(this.about.views ?? []);
        if (views !== this.givenViews) {
            this.givenViews = views;
            this.showViews();
        }
        const button = byID("open-switches");
        const on = switchWords(switches);
        button.hidden = !isSwitchable;
        button.className = on.length > 0 ? "on" : "";
        button.textContent = on.length > 0 ? "On: " + short(on.join(", "), 60) : "Switches";
    }

    showState(state, message) {
        const box = byID("live");
        const [text, tone] = { live: ["● live", "good"], lost: ["○ no answer: " + (message ?? ""), "bad"], all: ["", ""] }[state];
        if (box.textContent !== text) box.textContent = text;
        box.className = tone;
    }

    viewChanged() {
        const total = this.calls.all.length;
        const words = this.view.filter.isEmpty ? plural(total, "call") : this.view.found.length.toLocaleString("en") + " of " + plural(total, "call");
        byID("count").textContent = words + (this.view.isSearching ? " …" : "") + (this.dropped ? "; " + plural(this.dropped, "older one") + " removed" + (this.about.limit ? " (limit " + this.about.limit.toLocaleString("en") + ")" : "") : "");
        // A screen reader says it after a change of the filter, and not with every call that comes.
        if (this.speaks && !this.view.isSearching) {
            this.speaks = false;
            byID("said").textContent = words;
        }
        const empty = byID("empty");
        empty.hidden = this.view.entries.length > 0 || this.view.isSearching;
        if (!empty.hidden) empty.textContent = total > 0 ? "No call matches the filter." : this.source.isLive ? "No calls yet. They appear as the program makes them." : "The recording has no calls.";
        this.list.draw();
    }

    applyFilter() {
        const text = this.filterBox.value;
        this.list.box.scrollTop = 0;
        this.list.keepsPlace = false;
        this.speaks = true;
        const problem = this.view.setFilter(text);
        // The chosen call stays in sight.
        const entry = this.list.chosen === null ? -1 : this.list.entryOf(this.list.chosen);
        if (entry >= 0) { this.list.drawNow(); this.list.reveal(entry); }
        this.filterBox.setAttribute("aria-invalid", problem !== "");
        this.filterBox.title = problem;
        if (problem && document.activeElement === this.filterBox) tell(problem);
        this.showViews();
    }

    setFilter(text) {
        this.filterBox.value = text;
        this.applyFilter();
    }

    showViews() {
        const now = this.filterBox.value.trim();
        const given = [...builtInViews, ...(this.about.views ?? [])];
        const buttons = [...given, ...this.views].map(([name, filter]) => make("button", {
            type: "button", text: oneLine(name), title: filter || "all calls", "aria-pressed": String(filter === now), onclick: () => this.setFilter(filter),
        }));
        const known = [...given, ...this.views].some(([, filter]) => filter === now);
        const own = this.views.findIndex(([, filter]) => filter === now && now !== "");
        if (!known && now !== "") {
            buttons.push(make("button", {
                type: "button", text: "Save this view", onclick: () => {
                    const name = make("input", { type: "text", "aria-label": "Name of the view", maxlength: "40" });
                    name.value = now;
                    const save = () => {
                        this.views.push([name.value.trim() || now, now]);
                        memory.write("views", this.views);
                        byID("dialog").close();
                        this.showViews();
                    };
                    name.addEventListener("keydown", (event) => { if (event.key === "Enter") save(); });
                    const kept = this.source instanceof FileSource ? "This browser keeps it."
                        : "This browser keeps it until the program ends." + (this.source.isLive ? " To have it each time, add it to the options of inspect()." : "");
                    openDialog("Save this view", make("p", {}, make("code", { text: oneLine(now) })), name, make("p", { class: "faint", text: kept }), make("div", { class: "tools" }, make("button", { type: "button", class: "primary", text: "Save", onclick: save }), closeButton("Cancel")));
                    name.select();
                },
            }));
        } else if (own >= 0) {
            buttons.push(make("button", {
                type: "button", text: "Remove this view", onclick: () => {
                    this.views.splice(own, 1);
                    memory.write("views", this.views);
                    this.showViews();
                },
            }));
        }
        byID("views").replaceChildren(...buttons);
    }

    // MARK: Suggestions

    suggest() {
        const box = byID("suggestions"), filter = this.filterBox;
        this.suggestions = suggestionsFor(filter.value, filter.selectionStart, this.calls.all);
        this.suggested = -1;
        box.hidden = this.suggestions.length === 0;
        filter.setAttribute("aria-expanded", String(!box.hidden));
        filter.removeAttribute("aria-activedescendant");
        box.replaceChildren(...this.suggestions.map(({ text, help }, at) => make("li", {
            role: "option", id: "suggestion-" + at, "aria-selected": "false",
            onmousedown: (event) => { event.preventDefault(); this.takeSuggestion(at); },
        }, make("span", { text: short(text, 60) }), make("span", { text: help }))));
    }

    closeSuggestions() {
        byID("suggestions").hidden = true;
        this.filterBox.setAttribute("aria-expanded", "false");
    }

    takeSuggestion(at) {
        const { at: from, end, text } = this.suggestions[at];
        const { value } = this.filterBox;
        this.filterBox.value = value.slice(0, from) + text + value.slice(end);
        this.filterBox.setSelectionRange(from + text.length, from + text.length);
        this.applyFilter();
        this.suggest();
    }

    filterKey(event) {
        const isOpen = !byID("suggestions").hidden;
        if ((event.key === "ArrowDown" || event.key === "ArrowUp") && isOpen) {
            event.preventDefault();
            const { length } = this.suggestions;
            this.suggested = (this.suggested + (event.key === "ArrowDown" ? 1 : -1) + length + (this.suggested < 0 && event.key === "ArrowUp" ? 1 : 0)) % length;
            [...byID("suggestions").children].forEach((item, at) => item.setAttribute("aria-selected", String(at === this.suggested)));
            this.filterBox.setAttribute("aria-activedescendant", "suggestion-" + this.suggested);
        } else if (event.key === "Enter" || event.key === "Tab") {
            if (isOpen && this.suggested >= 0) {
                event.preventDefault();
                this.takeSuggestion(this.suggested);
            } else if (event.key === "Enter") {
                event.preventDefault();
                this.closeSuggestions();
                byID("list").focus();
            }
        } else if (event.key === "Escape") {
            event.stopPropagation();
            if (isOpen) this.closeSuggestions();
            else if (this.filterBox.value !== "") this.setFilter("");
            else byID("list").focus();
        }
    }

    // MARK: One call

    async detailOf(call) {
        const known = this.details.get(call.id);
        if (known && known.state === call.state) return known.detail;
        const detail = await this.source.detail(call.id);
        // A few, so that going back is instant.
        if (this.details.size > 50) this.details.delete(this.details.keys().next().value);
        this.details.set(call.id, { state: call.state, detail });
        return detail;
    }

    async choose(call, keepsPlace = false) {
        this.shown = call;
        const box = byID("detail");
        const top = box.scrollTop;
        if (box.hidden) {
            box.hidden = false;
            document.body.classList.add("detailed");
            this.list.draw();
        }
        try {
            const detail = await this.detailOf(call);
            if (this.shown !== call) return;
            showCall(box, call, detail, { close: () => this.close(), isGone: () => this.isGone(), buttons: () => this.buttons(call, detail) });
            if (keepsPlace) box.scrollTop = top;
        } catch (error) {
            if (this.shown === call) box.replaceChildren(make("p", { class: "bad", text: "The call can't be shown: " + oneLine(error.message) }), make("button", { type: "button", class: "back", text: "← List", onclick: () => this.close() }));
        }
    }

    close() {
        byID("detail").hidden = true;
        this.list.chosen = null;
        document.body.classList.remove("detailed");
        this.shown = null;
        this.list.draw();
        byID("list").focus();
    }

    buttons(call, detail) {
        const button = (text, action, attributes = {}) => make("button", { type: "button", text, onclick: action, ...attributes });
        const hasRequest = !!detail.exchange?.request;
        const buttons = [button(this.list.marked === null || this.list.marked === call.id ? "Compare" : "Compare with #" + this.list.marked, () => this.markCall(call), { "aria-keyshortcuts": "x" })];
        const isWhole = hasRequest && kindOf(detail.exchange.request) !== "omitted";
        const copies = [];
        if (isWhole) {
            const curl = () => {
                const { text, names } = asCurl(detail.exchange);
                copy(text, "a curl command" + (names.length > 0 ? "; set " + names.join(", ") + " first" : ""));
            };
            if (fitsCurl(detail.exchange.request)) copies.push(button("Copy as curl", curl));
            // The text of a body in base64 is only words.
            if (!detail.exchange.request.base64) copies.push(button("Copy as Swift", () => copy(asSwift(call, detail), "Swift")));
        }
        // A copy leaves the page, and secrets don't.
        if (hasRequest && !this.about.hasSecrets) {
            copies.push(button("Copy as HAR", () => copy(asHAR(call, detail), "HAR")));
            if (!isWhole) copies.push(make("p", { class: "faint", text: "The body wasn't kept, so the call can't be copied as a command or sent again." }));
            const menu = make("details", {
                class: "menu", onclick: (event) => { if (event.target.tagName === "BUTTON") menu.open = false; },
                onfocusout: (event) => { if (!menu.contains(event.relatedTarget)) menu.open = false; },
                onkeydown: (event) => { if (event.key === "Escape" && menu.open) { event.stopPropagation(); menu.open = false; } },
            }, make("summary", { text: "Copy" }), make("div", {}, ...copies));
            buttons.push(menu);
        }
        const canSend = this.about.isSwitchable && detail.again;
        if (canSend && kindOf(detail.again) !== "omitted") buttons.push(button("Send again…", () => openSender(this, call, detail)));
        buttons.push(button("Similar", () => this.setFilter("service:" + quoted(call.service) + " method:" + quoted(call.method)), { title: "The calls of this service and method" }));
        return buttons;
    }

    /** Marks a call for a comparison, or compares it with the one that is marked. */
    async markCall(call) {
        const { marked } = this.list;
        if (marked === null) {
            this.list.marked = call.id;
            tell("#" + call.id + " is marked. Choose another call, and press Compare or the key x.");
        } else if (marked === call.id) {
            this.list.marked = null;
            tell("No call is marked.");
        } else {
            const first = this.calls.all[this.calls.places.get(marked)];
            if (!first) { this.list.marked = null; tell("The marked call isn't kept any longer."); this.list.draw(); return; }
            const pair = await Promise.all([first, call].map(async (call) => ({ call, detail: await this.detailOf(call) })));
            this.list.marked = null;
            openDialog("Two calls", make("div", { class: "tools stays" }, closeButton()), ...showComparison(...pair));
            byID("dialog").className = "large";
        }
        this.list.draw();
        if (this.shown) this.choose(this.shown, true);
    }

    async act(action) {
        const { about } = await this.source.act(action);
        if (about) { this.about = about; this.showAbout(); }
    }

    // MARK: Keyboard

    key(event) {
        if (event.ctrlKey || event.altKey || event.metaKey || byID("dialog").open) return;
        const isWriting = ["INPUT", "TEXTAREA", "SELECT"].includes(event.target.tagName);
        if (isWriting) return;
        const act = own({
            "/": () => { this.filterBox.focus(); this.filterBox.select(); },
            "?": () => this.help(), Escape: () => this.close(),
            g: () => { const box = byID("group"); box.selectedIndex = (box.selectedIndex + 1) % box.options.length; box.dispatchEvent(new Event("change")); },
            s: () => { if (this.about.isSwitchable) openSwitches(this); },
            l: () => byID("list").focus(),
        }, event.key);
        if (!act) return;
        event.preventDefault();
        act();
    }

    help() {
        const keys = [["/", "write into the filter"], ["l", "to the list"], ["↑ ↓ j k, Page up, Page down, Home, End", "choose a call"], ["Enter", "to the call's parts; Esc back to the list"],
            ["x", "mark a call, or compare it with the marked one"], ["g", "group by service, by host, not at all"], ["s", "switches"], ["?", "this help"]];
        openDialog("Help", make("p", { text: "Each line is one call of the program: what was asked, what came back, and what happened on the way. Choose one to see why it ended so, the message before and after each stage, and the exact bytes that were signed." }),
            make("h3", { text: "Keys" }), table(["Key", "Does"], keys.map(([key, does]) => [make("kbd", { text: key }), does]), "keys"),
            make("h3", { text: "Filter" }), make("p", { text: "All tokens must hold; several of one name are alternatives, except has: and body:, which all must hold. A minus before a token turns it around. Quotes keep spaces: body:\"two words\"." }),
            table(["Token", "Finds"], tokenHelp.map(([name, does]) => [make("code", { text: name }), does]), "tokens"),
            make("div", { class: "tools" }, closeButton()));
    }
}

const quoted = (text) => (/[\s"]/.test(text) ? JSON.stringify(text) : text);

new App();
