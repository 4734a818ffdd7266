// The calls, and those that the filter shows, in the order and the groups of the reader.

/** The call with the texts of searches, made once and in lower case. */
function prepared(row) {
    if (row.find !== undefined) return row;
    row.find = [row.method, row.http, row.url, row.service, row.code, row.serverCode, row.status, ...row.tags]
        .filter(Boolean).join(" ").toLowerCase();
    row.lower = (row.text ?? "").toLowerCase();
    delete row.text;
    return row;
}

/** All calls that the page knows. */
class Calls {
    constructor() {
        this.all = [];
        this.places = new Map();
        this.oldest = 0;
    }

    /** Adds calls, or replaces those that it has; returns the place of the first new one and the places of changed ones. */
    take(rows) {
        const first = this.all.length;
        const changed = new Set();
        for (const row of rows) {
            const place = this.places.get(row.id);
            if (place === undefined) {
                this.places.set(row.id, this.all.length);
                this.all.push(prepared(row));
            } else {
                this.all[place] = prepared(row);
                if (place < first) changed.add(place);
            }
        }
        return { first, changed: [...changed].sort((one, other) => one - other) };
    }

    /**
     * Removes the calls that the program dropped, which have numbers below the oldest one; a part of them at a time, because
     * the others move. Returns the new places by the old ones, -1 for a call that is gone; null if nothing moved.
     */
    drop(oldest) {
        if (!(oldest > this.oldest) || (oldest - this.oldest) * 50 < this.all.length) return null;
        this.oldest = oldest;
        const moved = new Int32Array(this.all.length);
        const kept = [];
        this.all.forEach((call, place) => {
            const isGone = call.number < oldest;
            moved[place] = isGone ? -1 : kept.length;
            if (isGone) this.places.delete(call.id);
            else { this.places.set(call.id, kept.length); kept.push(call); }
        });
        if (kept.length === this.all.length) return null;
        this.all = kept;
        return moved;
    }
}

/** Whether a sorted list has a number. */
function hasSorted(list, number) {
    let low = 0, high = list.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (list[middle] < number) low = middle + 1; else high = middle;
    }
    return list[low] === number;
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
        this.fresh = [];
        this.at = -1;
        this.entries = [];
        this.groups = [];
        this.stop = () => {};
    }

    /** Whether there are calls that the filter hasn't looked at. */
    get isSearching() { return this.at >= 0; }

    setFilter(text) {
        this.filter = parseFilter(text);
        this.search();
        return this.filter.problem;
    }

    /** Looks through all calls, newest first, so that the first results are there at once. */
    search() {
        this.stop();
        const { all } = this.calls;
        // The place that is looked at next; those above have been, those that come later are when they come.
        this.at = all.length - 1;
        // What was found and isn't in order yet, newest first.
        this.fresh = [];
        if (this.filter.isEmpty) {
            this.at = -1;
            this.found = Array.from(all.keys());
            this.arrange();
            return;
        }
        let shown = performance.now();
        const step = () => {
            const { all } = this.calls, end = performance.now() + slice;
            let count = 0;
            while (this.at >= 0) {
                if (this.filter.test(all[this.at])) this.fresh.push(this.at);
                this.at -= 1;
                if ((count += 1) % 16 === 0 && performance.now() > end) break;
            }
            const isDone = !this.isSearching;
            // The first results at once, later ones a few times a second.
            const isNew = this.fresh.length > 0;
            if (isDone || (isNew && (performance.now() - shown > 100 || this.entries.length === 0))) {
                shown = performance.now();
                this.gather();
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

    /** Puts what was found since into order. */
    gather() {
        if (this.fresh.length > 0) this.found = this.fresh.reverse().concat(this.found);
        this.fresh = [];
    }

    /** Takes the calls that came or changed since, and looks at no other. */
    take({ first, changed }) {
        const { all } = this.calls;
        this.gather();
        const added = [], removed = new Set();
        let isMoved = changed.length > 0 && (this.group !== "" || this.order in orders);
        for (const place of this.filter.isEmpty ? [] : changed) {
            if (place <= this.at) continue;
            const had = hasSorted(this.found, place), has = this.filter.test(all[place]);
            if (had && !has) removed.add(place);
            else if (!had && has) added.push(place);
        }
        if (removed.size > 0 || added.length > 0) {
            isMoved = true;
            const kept = [];
            let next = 0;
            for (const place of this.found) {
                while (next < added.length && added[next] < place) { kept.push(added[next]); next += 1; }
                if (!removed.has(place)) kept.push(place);
            }
            this.found = kept.concat(added.slice(next));
        }
        let count = 0;
        for (let place = first; place < all.length; place += 1) {
            if (this.filter.test(all[place])) { this.found.push(place); count += 1; }
        }
        if (isMoved || (count > 0 && (this.group !== "" || this.order !== "start" || this.isSearching))) {
            this.arrange();
        } else if (count > 0) {
            for (const place of this.found.slice(-count)) this.entries.push(place);
            this.changed();
        } else {
            this.changed();
        }
    }

    /** Follows the calls to other places; returns the number of lines that are gone from the top. */
    move(moved) {
        this.gather();
        const before = this.found.length;
        this.found = this.found.map((place) => moved[place]).filter((place) => place >= 0);
        if (this.at >= 0) {
            let at = this.at;
            while (at >= 0 && moved[at] < 0) at -= 1;
            this.at = at >= 0 ? moved[at] : -1;
        }
        this.arrange();
        return this.order === "start" && this.group === "" ? before - this.found.length : 0;
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
