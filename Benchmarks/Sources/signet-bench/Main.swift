import Foundation
import SignetJSON

/// Prints each row and its floor, and writes the same as JSON. With `--demand` it fails if a goal
/// is not met. With `--runs N` it only does the rows' own work N times, for a tool that counts
/// instructions.
@main
struct Main {
    static func main() async {
        do {
            try await run()
        } catch {
            FileHandle.standardError.write(Data("signet-bench: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        let runs = arguments.firstIndex(of: "--runs").flatMap { arguments[$0...].dropFirst().first }
            .flatMap { Int($0) }
        let only = arguments.filter { !$0.hasPrefix("--") && Int($0) == nil }
        let isDemanded = arguments.contains("--demand")
        var allMet = true
        var makers: [(names: [String], rows: () async throws -> [Row])] = []
        makers.append((SigningRows.names, { try SigningRows.rows() }))
        makers.append((ThreadRows.names, { try ThreadRows.rows() }))
        makers.append(
            (
                ["dump-seal-100k", "dump-open-100k", "dump-seal-1k", "public-read"],
                { try VaultRows.rows() }
            ))
        makers.append(
            (
                ["rpc-unbox-1k", "rpc-unbox-foundation", "json-decode-1k", "json-encode-1k"],
                { try PayloadRows.rows() }
            ))
        makers.append(
            (
                [
                    "requests-h1", "requests-h2", "requests-h1-loop", "requests-h2-loop",
                    "requests-h2-256",
                    "pinned-h1", "pinned-h2", "pin-handshake", "executor-h1", "executor-h2",
                    "cancel-h1", "cancel-h2",
                ],
                { try await TransportRows.rows() }
            ))
        makers.append((SystemRows.names, { try SystemRows.rows() }))
        makers.append((CacheRows.names, { try CacheRows.rows() }))
        makers.append((RecordingRows.names, { RecordingRows.rows() }))
        makers.append((SystemLoopRows.names, { try await SystemLoopRows.rows() }))
        #if Peers
        makers.append((PeerRows.names, { try await PeerRows.rows() }))
        #endif
        let known = makers.flatMap(\.names)
        if let wrong = only.first(where: { !known.contains($0) }) {
            FileHandle.standardError.write(
                Data("no benchmark \(wrong); there are \(known.joined(separator: ", "))\n".utf8))
            exit(2)
        }
        if let runs {
            for maker in makers where maker.names.contains(where: only.contains) {
                for row in try await maker.rows() where only.contains(row.name) {
                    for _ in 0..<runs { _ = try await row.ours() }
                }
            }
            return
        }
        print(line(["name", "value", "floor", "ratio", "goal", ""]))
        var results: [JSONValue] = []
        func isMeasured(_ name: String) -> Bool { only.isEmpty || only.contains(name) }
        for maker in makers where maker.names.contains(where: isMeasured) {
            for row in try await maker.rows() where isMeasured(row.name) {
                let outcome = try await row.measure()
                print(line(cells(outcome)))
                allMet = allMet && outcome.meetsGoal
                if let processor = row.processor {
                    print(
                        "  processor time of a request: \(short(median(processor.ours))) µs, "
                            + "floor \(short(median(processor.floors))) µs")
                }
                results.append(json(outcome))
            }
        }
        if let file = ProcessInfo.processInfo.environment["SIGNET_BENCH_OUT"] {
            try Data(JSONValue.array(results).serialized(.pretty) + [0x0A])
                .write(to: URL(filePath: file))
        }
        if isDemanded, !allMet { exit(1) }
    }

    private static func cells(_ outcome: Outcome) -> [String] {
        let sign = outcome.row.unit.isCost ? "≤" : "≥"
        let goal =
            switch outcome.row.goal {
            case .ratio(let goal): "\(sign) \(short(goal)) ×"
            case .value(let goal): "\(sign) \(short(goal)) \(outcome.row.unit.rawValue)"
            }
        return [
            outcome.row.name, "\(short(outcome.value)) \(outcome.row.unit.rawValue)",
            "\(short(outcome.floor)) \(outcome.row.unit.rawValue)", "\(short(outcome.ratio)) ×",
            goal, outcome.meetsGoal ? "met" : "not met",
        ]
    }

    private static func line(_ cells: [String]) -> String {
        zip(cells, [30, 12, 12, 9, 10, 8])
            .map { cell, width in cell + String(repeating: " ", count: max(0, width - cell.count)) }
            .joined(separator: " ")
    }

    private static func short(_ value: Double) -> String {
        switch value {
        case 1e9...: String(format: "%.2fG", value / 1e9)
        case 1e6...: String(format: "%.1fM", value / 1e6)
        case 10000...: String(format: "%.1fk", value / 1e3)
        case 100...: String(format: "%.0f", value)
        default: String(format: "%.3g", value)
        }
    }

    private static func json(_ outcome: Outcome) -> JSONValue {
        func number(_ value: Double) -> JSONValue {
            JSONNumber(value).map(JSONValue.number) ?? .null
        }
        let goalOn: JSONValue =
            switch outcome.row.goal {
            case .ratio: "ratio"
            case .value: "value"
            }
        let processor = outcome.row.processor.map {
            JSONValue.object([
                "value": number(median($0.ours)), "floor": number(median($0.floors)),
            ])
        }
        return .object([
            "name": .string(outcome.row.name), "unit": .string(outcome.row.unit.rawValue),
            "value": number(outcome.value), "floor": number(outcome.floor),
            "ratio": number(outcome.ratio), "goal": number(outcome.goal), "goalOn": goalOn,
            "rounds": .number(JSONNumber(outcome.row.rounds)),
            "statistic": .string(outcome.row.statistic.rawValue),
            "processorMicroseconds": processor ?? .null,
        ])
    }
}
