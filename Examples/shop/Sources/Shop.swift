import Foundation
import Logging
import SignetClient

/// A client of the orders host: `shop list`, `shop order ITEM QUANTITY` and `shop tour`.
///
/// Addresses, signatures, pins, time limits and numbers of attempts come from the sealed configuration.
@main struct Shop {
    let system: NetworkSystem
    let counter: RequestCounter

    static func main() async {
        guard let command = Command(CommandLine.arguments.dropFirst()) else {
            end("usage: shop list | shop order ITEM QUANTITY | shop tour", exit: 2)
        }
        do {
            let shop = try await start()
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
    /// - Parameter file: The project file, which names the program's files; `signet self-check` reads it too.
    static func start(from file: String = "project.json") async throws -> Shop {
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
        case .tour:
            try await tour()
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

    /// Reads the words of a command line; nil if they aren't a command.
    init?(_ words: some Sequence<String>) {
        let words = Array(words)
        switch (words.first, words.count) {
        case ("list", 1): self = .list
        case ("tour", 1): self = .tour
        case ("order", 3):
            guard let quantity = Int(words[2]) else { return nil }
            self = .order(item: words[1], quantity: quantity)
        default: return nil
        }
    }
}
