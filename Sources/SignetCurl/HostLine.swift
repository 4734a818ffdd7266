/// The calls to one scheme, host and port: how many libcurl has, and which wait for a place.
///
/// libcurl keeps some 20 kB for each call that it knows, also for those that only wait for a
/// connection; a call that waits here costs little. Used on the loop's thread only.
final class HostLine {
    /// How many calls libcurl has.
    private(set) var active = 0
    /// Whether it speaks HTTP/1.1, by its choice or ours: no calls wait for a connection to share.
    var isWithoutMultiplexing = false
    private var line: [Call] = []
    private var first = 0

    /// How many calls wait, those that have ended meanwhile included.
    var waiting: Int { line.count - first }
    /// Whether nothing is to be known of the host.
    var isIdle: Bool { active == 0 && waiting == 0 }

    /// Notes that libcurl has one more.
    func began() { active += 1 }
    /// Notes that libcurl has one less.
    func ended() { active -= 1 }

    /// Lets a call wait.
    func append(_ call: Call) { line.append(call) }

    /// Takes the call out that has waited longest.
    func next() -> Call? {
        guard first < line.count else { return nil }
        let call = line[first]
        first += 1
        if first == line.count {
            line.removeAll(keepingCapacity: first <= 1024)
            first = 0
        } else if first >= 1024 {
            line.removeFirst(first)
            first = 0
        }
        return call
    }

    /// Takes the calls out that wait for nothing any more.
    func takeOut(where isOver: (Call) -> Bool) -> [Call] {
        guard waiting > 0 else { return [] }
        var stay: [Call] = []
        var gone: [Call] = []
        for call in line[first...] {
            if isOver(call) { gone.append(call) } else { stay.append(call) }
        }
        if !gone.isEmpty { (line, first) = (stay, 0) }
        return gone
    }
}
