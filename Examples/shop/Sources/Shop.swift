import Foundation
import Logging
import SignetClient
import SignetRecording

/// A client of the orders host: `shop list`, `shop order ITEM QUANTITY` and `shop tour`, which can
/// be recorded, and replayed without the host.
///
/// Addresses, signatures, pins, time limits and numbers of attempts come from the sealed configuration.
@main struct Shop {
    let system: NetworkSystem
    let counter: RequestCounter

    static func main() async {
        guard let command = Command(CommandLine.arguments.dropFirst()) else {
            end(
                "usage: shop list | shop order ITEM QUANTITY | shop tour [record FILE|replay FILE]",
                exit: 2)
        }
        do {
            let shop = try await start(replaying: command.replayed)
            do {
                try await shop.run(command)
            } catch {
                await shop.system.shutdown()
                throw error
            }
            await shop.system.shutdown()
        } catch {
            // No error of Signet contains a secret.
            end("shop: \(error)", exit: 1)
        }
    }

    /// Opens the configuration that was sealed for this version of the program, and starts the system.
    ///
    /// - Parameters:
    ///   - file: The project file, which names the program's files; `signet self-check` reads it too.
    ///   - recording: The file of a recording that takes the place of the network.
    static func start(
        from file: String = "project.json", replaying recording: String? = nil
    ) async throws -> Shop {
        let files = try StrictJSONDecoder().decode(
            Files.self, from: Array(Data(contentsOf: URL(filePath: file))))
        let keys = try KeySource.file(files.keys).load()
        let opened = try DumpFile(files.dump).open(
            with: .keys(keys), for: VersionBinding(app: "com.example.shop", version: "1.4.2"))
        let configuration = try GlobalConfiguration(
            restoring: opened, schema: Schema(contentsOf: files.schema))

        let counter = RequestCounter()
        var options = NetworkSystem.Options()
        options.caFile = files.caFile
        options.logger.logLevel = .error
        options.callOptions.attemptInterceptors = [counter]
        if let recording {
            let bytes = try Array(Data(contentsOf: URL(filePath: recording)))
            options.engine = ReplayEngine(try Recording(har: bytes))
            options.caFile = nil
        }
        let system = try await NetworkSystem.start(configuration, keys: keys, options: options)
        return Shop(system: system, counter: counter)
    }

    func run(_ command: Command) async throws {
        switch command {
        case .list:
            for line in try await system.send(Orders.list, as: OrderLines()) { print(line) }
        case .order(let item, let quantity):
            let order: Order = try await system.send(
                Orders.create(item: item, quantity: quantity))
            print(order)
        case .tour, .replayedTour:
            try await tour()
        case .recordedTour(let file):
            var options = RecordingOptions()
            options.recordsInProduction = true  // the user asked for it
            let recording = try await system.record(options) { try await tour() }
            try recording.write(to: file)
        }
    }

    /// Ends the program with a line on standard error.
    static func end(_ message: String, exit code: Int32) -> Never {
        FileHandle.standardError.write(Data("\(message)\n".utf8))
        exit(code)
    }
}

/// The program's files, as the project file names them.
private struct Files: Decodable {
    let keys: String
    let dump: String
    let schema: String
    let caFile: String?
}

/// A command of the program.
enum Command {
    case list
    case order(item: String, quantity: Int)
    case tour
    case recordedTour(file: String)
    case replayedTour(file: String)

    /// The file of the recording that takes the place of the network; nil for the network.
    var replayed: String? { if case .replayedTour(let file) = self { file } else { nil } }

    /// Reads the words of a command line; nil if they aren't a command.
    init?(_ words: some Sequence<String>) {
        let words = Array(words)
        switch (words.first, words.count) {
        case ("list", 1): self = .list
        case ("tour", 1): self = .tour
        case ("tour", 3) where words[1] == "record": self = .recordedTour(file: words[2])
        case ("tour", 3) where words[1] == "replay": self = .replayedTour(file: words[2])
        case ("order", 3):
            guard let quantity = Int(words[2]) else { return nil }
            self = .order(item: words[1], quantity: quantity)
        default: return nil
        }
    }
}
