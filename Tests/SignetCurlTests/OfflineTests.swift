import SignetPinning
import SignetTransport
import TestSupport
import Testing

@testable import SignetCurl

/// The error of a machine without a network differs from that of a host that is down and of a name
/// that doesn't exist.
@Suite struct OfflineTests {
    private static func code(
        _ host: String, port: Int, hasRoute: Bool
    ) async throws -> TransportError.Code? {
        let engine = try CurlEngine(EngineSettings(), hasRoute: { hasRoute })
        let code = await engine.failure(
            EngineRequest(get(port, host: host, scheme: "http"), timeout: .seconds(300)))?.code
        await engine.shutdown()
        return code
    }

    /// The kernel has no route to the broadcast address for a stream, wherever it is asked.
    @Test(.features("002-10"), arguments: [(true, TransportError.Code.connect), (false, .offline)])
    func aHostWithoutARouteIsOffline(_ hasRoute: Bool, _ expected: TransportError.Code) async throws
    {
        #expect(try await Self.code("255.255.255.255", port: 80, hasRoute: hasRoute) == expected)
    }

    /// A host that refuses was reached.
    @Test(.features("002-10"), arguments: [true, false])
    func aHostThatRefusesIsNotOffline(_ hasRoute: Bool) async throws {
        let code = try await Self.code("127.0.0.1", port: freePort(), hasRoute: hasRoute)
        #expect(code == .connect)
    }

    @Test(.features("002-10"), arguments: ["nowhere.invalid", "a.b.invalid"])
    func aNameThatNeverExistsIsNotOffline(_ name: String) throws {
        #expect(try !TransferDriver.needsNetwork(.canonical(name)))
    }

    @Test(arguments: [
        "api.example.com", "invalid.example.com", "localhost.example.com", "10.0.0.1",
    ])
    func aNameOfTheNetworkNeedsIt(_ name: String) throws {
        #expect(try TransferDriver.needsNetwork(.canonical(name)))
    }

    @Test func theKernelReportsItsRoutes() {
        // Asking twice changes nothing, and opens nothing for good.
        #expect(TransferDriver.hasRoute() == TransferDriver.hasRoute())
    }
}
