import Foundation
import TestSupport
import Testing

/// The program of `Examples/shop` against the orders host.
@Suite struct ShopProgramTests {
    /// The program's folder, with a configuration that is sealed for a host.
    private struct Program {
        let folder: TemporaryDirectory

        init(for host: OrdersHost, version: String = "1.4.2") async throws {
            folder = try TemporaryDirectory()
            let authority = try TestAuthority.trusted.get()
            let pins = #"["\#(authority.intermediate.pin)","\#(authority.root.pin)"]"#
            for name in ["schema.json", "defaults.json"] {
                try folder.write(
                    Data(contentsOf: PackageLayout.url("Examples/shop/\(name)")), to: name)
            }
            try folder.write(
                #"{"services.orders.pins":\#(pins),"services.catalog.pins":\#(pins)}"#,
                to: "fetched.json")
            try folder.write(
                """
                {"schema":"schema.json","dump":"shop.dump","keys":"keys",
                "caFile":"\(authority.caFile)"}
                """, to: "project.json")
            try folder.write(Data(contentsOf: URL(filePath: host.keyFile)), to: "keys")
            for words in [
                "keys new --type vault --id vault-2026 --out keys --append",
                "vault seal --schema schema.json --defaults defaults.json --fetched fetched.json"
                    + " --launch services.orders.baseURL=\(host.url)/rpc"
                    + " --launch services.catalog.baseURL=\(host.url) --keys keys"
                    + " --key-id vault-2026 --app-id com.example.shop --app-version \(version)"
                    + " --out shop.dump",
            ] {
                let output = try await SignetTool.run(
                    words.split(separator: " ").map(String.init), directory: folder.url)
                guard output.exit == 0 else { throw TestSupportError(output.stderr) }
            }
        }

        func run(_ line: String) async throws -> ProcessOutput {
            let program = SignetTool.url.deletingLastPathComponent().appending(path: "shop")
            return try await ChildProcess.run(
                program.path, line.split(separator: " ").map(String.init), directory: folder.url)
        }
    }

    @Test(.features("000-60")) func theTourPassesFromItsRecording() async throws {
        let host = try await OrdersHost.start()
        let program = try await Program(for: host)
        let recorded = try await program.run("tour record tour.har")
        #expect(recorded.exit == 0, "\(recorded.stderr)")
        try await host.stop()
        #expect(try await program.run("tour").exit == 1)
        let replayed = try await program.run("tour replay tour.har")
        #expect(replayed.exit == 0, "\(replayed.stderr)")
        #expect(replayed.text == recorded.text)
    }

    @Test(.features("002-29", "004-14", "004-16")) func theTourMakesCallsOfEveryKind() async throws
    {
        let host = try await OrdersHost.start()
        let program = try await Program(for: host)
        let tour = try await program.run("tour")
        #expect(tour.exit == 0, "\(tour.stderr)")
        #expect(tour.stderr == "")
        // The README shows it.
        let shown = try Article("Examples/shop/README.md").blocks(in: "console")[0]
        #expect(shown[0] == "$ shop tour")
        #expect(tour.text == shown.dropFirst().joined(separator: "\n") + "\n")

        let order = try await program.run("order coffee 4")
        #expect(order.text == "order 4: 4 x coffee\n", "\(order.stderr)")
        // The tour's requests and this one, all of them signed.
        let requests = try await host.requests(count: 19)
        #expect(requests.count == 19)
        #expect(requests.allSatisfy { $0.contains(#""verdict":"verified""#) })
        #expect(requests.count { $0.contains(#""status":401,"#) } == 1)
        #expect(requests.count { $0.contains(#""reason":"no-session""#) } == 1)
        try await host.stop()
    }

    @Test func invalidArgumentsSendNothing() async throws {
        let host = try await OrdersHost.start()
        let program = try await Program(for: host)
        for line in ["", "tours", "list all", "order tea", "order tea two", "order tea 2 3"] {
            let output = try await program.run(line)
            #expect(output.exit == 2, "\(line)")
            #expect(output.stderr.hasPrefix("usage: shop list"), "\(line)")
        }
        let none = try await program.run("order tea 0")
        #expect(none.exit == 1)
        #expect(
            none.stderr == "shop: invalid-params: the quantity is 0, expected 1 or more\n")
        let list = try await program.run("list")
        #expect(list.exit == 0, "\(list.stderr)")
        #expect(list.text == "")
        #expect(try await host.requests(count: 1).count == 1)
        try await host.stop()
    }

    @Test func anotherVersionsConfigurationIsRefused() async throws {
        let host = try await OrdersHost.start()
        let program = try await Program(for: host, version: "1.5.0")
        let output = try await program.run("list")
        #expect(output.exit == 1)
        #expect(output.stderr.contains("1.5.0") && output.stderr.contains("1.4.2"))
        #expect(output.text == "")
        #expect(host.requests == [])
        try await host.stop()
    }
}

/// The sessions of the orders host, whose tokens receipts need beside a signature.
@Suite struct OrdersHostSessions {
    private struct Response: Decodable {
        struct Session: Decodable {
            let token: String
            let uses: Int
        }
        let result: Session
    }

    @Test func aReceiptNeedsATokenWithUsesLeft() async throws {
        let renewal = #"{"jsonrpc":"2.0","id":1,"method":"session.renew"}"#
        let read = ["/orders/1/receipt", "/orders/999999/receipt"].map { target in
            SignedRequest(
                method: "GET", target: target, body: "", covers: ["@method", "@authority", "@path"])
        }
        let signed = try await SignedRequest.signed(
            [SignedRequest(), SignedRequest(body: renewal)] + read)
        #expect(try await signed[0].send().status == 200)
        let body = try await signed[1].send().body
        let session = try JSONDecoder().decode(Response.self, from: Data(body.utf8)).result
        #expect(session.token.wholeMatch(of: /[0-9a-f]{32}/) != nil)
        #expect(session.uses == 2)

        func receipt(_ request: SignedRequest, with authorization: String) async throws
            -> SignedRequest.Response
        {
            var request = request
            request.fields.append("Authorization: \(authorization)")
            return try await request.send()
        }
        let good = "Bearer \(session.token)"
        let zeros = String(repeating: "0", count: 32)
        for wrong in ["", "Bearer", "Bearer \(zeros)", "\(good)0", "Basic \(session.token)"] {
            let response = try await receipt(signed[2], with: wrong)
            #expect(response.status == 401, "\(wrong)")
            #expect(response.json.hasPrefix(#"{"error":{"code":"no-session","#), "\(wrong)")
        }
        var unsigned = signed[2]
        unsigned.fields = []
        #expect(try await receipt(unsigned, with: good).body.contains("signature-refused"))

        let first = try await receipt(signed[2], with: good)
        #expect(first.status == 200)
        #expect(first.json.hasPrefix(#"{"order":1,"text":""#))
        #expect(try await receipt(signed[3], with: good).status == 404)
        #expect(try await receipt(signed[2], with: good).status == 401)
    }
}
