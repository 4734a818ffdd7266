import Foundation
import SignetJSON
import TestSupport
import Testing

/// The tool with mitmproxy as its proxy, whose CA it trusts.
@Suite struct InterceptorToolTests {
    @Test(.features("004-21")) func anInterceptingProxyIsRefusedByThePin() async throws {
        let authority = try TestAuthority.trusted.get()
        let host = try await OrdersHost.start(
            directives:
                #"location /plain { default_type application/json; return 200 '{"jsonrpc":"2.0","id":1,"result":1}'; }"#
        )
        let interceptor = try await Interceptor(.proxy)
        let folder = try TemporaryDirectory()
        let policy = try folder.write(
            #"{"hosts":{"localhost":{"pins":["\#(authority.root.pin)"]}}}"#, to: "policy.json")
        let way = ["--proxy", interceptor.proxyURL, "--ca-file", interceptor.caFile, "--json"]
        for (isPinned, options) in [(false, []), (true, ["--policy", policy])] {
            let word = isPinned ? "refused" : "open"
            let sent = try await SignetTool.run(
                ["send"] + way + options,
                stdin: Array(
                    """
                    POST /plain?\(word) HTTP/1.1
                    Host: localhost:\(host.port)
                    Authorization: field-\(word)

                    body-\(word)
                    """.utf8))
            let called = try await SignetTool.run(
                [
                    "call", "https://localhost:\(host.port)/plain", "method-\(word)", "--protocol",
                    "jsonrpc-2.0", "--params", #"{"a":"param-\#(word)"}"#,
                ] + way + options)
            for output in [sent, called] {
                #expect(output.exit == (isPinned ? 1 : 0), "\(output.text)")
                let error = try JSONValue(parsing: output.stdout)["error"]
                #expect(error?["code"]?.string == (isPinned ? "pin-mismatch" : nil))
                if isPinned {
                    // Enough to recognise the interceptor, and the expected pins.
                    let message = try #require(error?["message"]?.string)
                    #expect(message.contains(interceptor.pin))
                    #expect(message.contains(authority.root.pin))
                }
            }
        }
        let requests = try await host.requests(count: 2)
        #expect(requests.count == 2 && !requests.contains { $0.contains("refused") })
        let heard = try await interceptor.heard()
        for word in ["plain?open", "field-open", "body-open", "method-open", "param-open"] {
            #expect(heard.contains(word), "\(word)")
        }
        #expect(!heard.contains("refused"))
    }
}
