import HTTPTypes
import SignetCurl
import SignetPinning
import SignetTransport
import TestSupport
import Testing

@Suite struct EngineTests {
    @Test(arguments: [false, true])
    func fetchesWithAPinOnAnyCertificateOfTheChain(overHTTP2: Bool) async throws {
        let authority = try TestAuthority.trusted.get()
        let host = try await OrdersHost.start(directives: "location /plain { return 200 'hello'; }")
        var configuration = CurlEngine.Configuration()
        configuration.caFile = authority.caFile
        configuration.offersHTTP2 = overHTTP2
        let engine = try CurlEngine(configuration)
        for pin in [authority.leaf.pin, authority.intermediate.pin, authority.root.pin] {
            let policy = try PinPolicy(rules: [
                PinRule(host: "localhost", pins: [Pin(parsing: pin)])
            ])
            let request = HTTPRequest(
                method: .get, scheme: "https", authority: "localhost:\(host.port)", path: "/plain")
            let response = try await engine.send(EngineRequest(request, policy: policy))
            #expect(response.response.status == .ok)
            #expect(response.httpVersion.major == (overHTTP2 ? 2 : 1))
            #expect(try await response.body.collect() == Array("hello".utf8))
            #expect(response.verdict?.isMatch == true)
            #expect(
                response.peerChain.map(\.pin.text) == [
                    authority.leaf.pin, authority.intermediate.pin, authority.root.pin,
                ])
        }
        await engine.shutdown()
    }
}
