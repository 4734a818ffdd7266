#if Tool
import ArgumentParser
import SignetBase
import SignetClient
import SignetJSON
import SignetRPC
import SignetServiceDescription
import SignetSystem

/// The description of the service's methods.
struct CallDescriptionOptions: ParsableArguments {
    @Option(
        name: .customLong("description"),
        help: ArgumentHelp(
            """
            The service's OpenRPC or OpenAPI 3 document, JSON: parameters are checked before anything is \
            sent. With rest METHOD is then an operation's id, or 'GET /orders/{id}'.
            """,
            valueName: "file"), completion: .file())
    var file: String?

    @Flag(
        name: .customLong("discover"),
        help: "Ask the service for its OpenRPC document first, with rpc.discover.")
    var discovers = false

    @Flag(
        name: .customLong("list"),
        help: "List the methods and call none. Without --description, ask as --discover does.")
    var lists = false

    func validate() throws {
        if file != nil && discovers {
            throw ValidationError("of --description and --discover one is enough")
        }
    }

    /// Checks that the service can be asked if no file is given.
    func validate(for payloadProtocol: ServiceConfiguration.PayloadProtocol) throws {
        if file == nil, discovers || lists, payloadProtocol != .jsonRPC2 {
            throw ValidationError("only JSON-RPC 2.0 has rpc.discover: give --description FILE")
        }
    }

    /// The document of the file; nil if none is given.
    func read(
        for payloadProtocol: ServiceConfiguration.PayloadProtocol
    ) throws -> ServiceDescription? {
        guard let file else { return nil }
        let description: ServiceDescription
        do {
            description = try ServiceDescription(parsing: InputFile.read(file))
        } catch let error as PayloadError {
            throw ToolError(error.code, "\(file): \(error.message)")
        }
        guard (description.kind == .openAPI) == (payloadProtocol == .rest) else {
            throw ToolError.usage(
                "\(file) is an \(description.kind.rawValue) document, and the protocol is "
                    + payloadProtocol.rawValue)
        }
        return description
    }

    /// The document that the service itself has.
    static func discover(
        _ service: ServiceName, by system: NetworkSystem
    ) async throws -> (description: ServiceDescription, warnings: [RPCWarning]) {
        let response = try await system.call(RPCCall("rpc.discover"), on: service)
        do {
            let description = try ServiceDescription(parsing: response.result?.bytes ?? [])
            return (description, response.warnings)
        } catch {
            throw ToolError(.malformedResponse, error.message)
        }
    }
}
#endif
