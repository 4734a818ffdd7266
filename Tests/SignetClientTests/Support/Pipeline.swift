import SignetClient
import SignetPinning
import SignetTransport

/// A service given as a value, on an engine with scripted responses.
enum Pipeline {
    static func system(
        _ engine: any HTTPEngine, payload: ServiceConfiguration.PayloadProtocol = .rest,
        changeOptions: (inout NetworkSystem.Options) -> Void = { _ in },
        changeService: (inout ServiceConfiguration) -> Void = { _ in }
    ) async throws -> NetworkSystem {
        var options = NetworkSystem.Options()
        options.engine = engine
        changeOptions(&options)
        var service = ServiceConfiguration(
            baseURL: "https://api.example.com/v1", payloadProtocol: payload)
        changeService(&service)
        return try await NetworkSystem.start(
            services: ["a": service], policy: .allowingAll(), options: options)
    }

    static func code(
        _ work: () async throws(ClientError) -> some Sendable
    ) async -> ClientError.Code? {
        do throws(ClientError) {
            _ = try await work()
            return nil
        } catch {
            return error.code
        }
    }
}
