import FoundationEssentials
import SignetBase
import SignetJSON
import SignetSystem

/// The values that a program detects about itself and its machine; see
/// `ConfigurationInput.detected`.
package enum DetectedValues {
    /// Returns the detected values of the keys that the schema has.
    static func entries(
        for schema: Schema, prefix: String, appVersion: String?, variables: [String: String],
        place: String
    ) -> [ConfigurationInput.Entry] {
        let process = ProcessInfo.processInfo
        let texts = [
            ("appVersion", appVersion), ("hostName", process.hostName),
            ("locale", locale(in: variables)),
            ("operatingSystem", process.operatingSystemVersionString),
        ]
        var values = texts.compactMap { name, text in
            text.flatMap { $0.isEmpty ? nil : (name, JSONValue.string($0)) }
        }
        if let start = processStart() {
            let isNumber = schema.rule(named: prefix + "startedAt")?.type == .integer
            let time = UnixTime.rfc3339(start)
            values.append(("startedAt", isNumber ? .number(JSONNumber(start)) : .string(time)))
        }
        return values.map { .init(name: prefix + $0, value: $1, place: place) }
            .filter { schema.position(of: $0.name) != nil }
    }

    /// Returns a language tag; nil if no variable names a language.
    package static func locale(in variables: [String: String]) -> String? {
        let set = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { variables[$0] }
        guard
            let name = set.first(where: { !$0.isEmpty })?.prefix(while: { $0 != "." && $0 != "@" })
        else { return nil }
        let tag = String(name.replacing("_", with: "-"))
        let isTag = tag.utf8.allSatisfy(ASCIISet(lettersDigitsAnd: "-").contains)
        return isTag && (2...35).contains(tag.utf8.count) && tag != "POSIX" ? tag : nil
    }

    private static func processStart() -> Int64? {
        guard let stat = try? InputFile.read("/proc/self/stat", limit: 1 << 16),
            let uptime = try? InputFile.read("/proc/uptime", limit: 1 << 16)
        else { return nil }
        return processStart(
            stat: String(decoding: stat, as: UTF8.self),
            uptime: String(decoding: uptime, as: UTF8.self), now: UnixTime.now())
    }

    /// Reads when a process started (proc(5)).
    ///
    /// - Parameters:
    ///   - stat: The text of `/proc/self/stat`, whose second field may hold spaces and parentheses.
    ///   - uptime: The text of `/proc/uptime`.
    ///   - now: Unix seconds.
    /// - Returns: Unix seconds; nil if a text has another form, or if the two contradict each
    ///   other. Some containers fake only one of the files.
    package static func processStart(stat: String, uptime: String, now: Int64) -> Int64? {
        guard let name = stat.lastIndex(of: ")"),
            let up = uptime.split(separator: " ").first.flatMap({ Double($0) })
        else { return nil }
        let fields = stat[name...].dropFirst().split(separator: " ")
        // Index 19 is field 22, the time between boot and start in hundredths of a second.
        guard fields.count > 19, let ticks = UInt64(fields[19]) else { return nil }
        let age = up - Double(ticks) / 100
        guard age >= -1, age < Double(now) else { return nil }
        return now - Int64(max(0, age))
    }
}
