#if Inspector
import Foundation
import SignetClient
import SignetJSON
import SignetRPC
import SignetTesting
import TestSupport
import Testing

@testable import SignetInspector

/// The refusals of the page's server and of its actions.
@Suite struct InspectorRefusalTests {
    /// A socket that its program closed is in the table as one of user 0 without an inode.
    @Test(arguments: [
        ("06", 0, 0), ("01", 0, 0), ("06", 1000, 12), ("0A", 1000, 12), ("01", 1000, 0),
    ]) func aClosedSocketHasNoUser(_ state: String, _ user: Int, _ inode: Int) {
        let (from, to) = (PeerUser.address("", 54321), PeerUser.address("", 50321))
        func table(_ state: String, _ user: Int, _ inode: Int) -> [UInt8] {
            Array(
                "  1: \(from) \(to) \(state) 00000000:00000000 00:00000000 00000000 \(user) 0 \(inode)"
                    .utf8)
        }
        #expect(PeerUser.user(in: table("01", 1000, 12), from: from, to: to) == 1000)
        #expect(PeerUser.user(in: table(state, user, inode), from: from, to: to) == nil)
    }

    /// Bytes after a body that is refused are never a request, even if they look like a good one.
    @Test(arguments: ["Content-Length: 3000000", "Transfer-Encoding: chunked"])
    func bytesAfterA413AreNoRequest(_ framing: String) async throws {
        let fixture = try await InspectorFixture()
        let browser = fixture.browser
        let good =
            "GET / HTTP/1.1\r\nHost: \(browser.authority)\r\nCookie: \(browser.cookie)\r\n\r\n"
        let head = "POST /api/act HTTP/1.1\r\nHost: \(browser.authority)\r\n\(framing)\r\n\r\n"
        let port = String(browser.authority.split(separator: ":").last ?? "")
        let script = #"exec 3<>"/dev/tcp/127.0.0.1/$0"; printf %s "$1" >&3; timeout 5 cat <&3"#
        func answer(to request: String) async throws -> String {
            try await ChildProcess.run("/usr/bin/env", ["bash", "-c", script, port, request]).text
        }
        func isRefused(_ text: String) -> Bool {
            text.contains("413") && text.contains("Content-Security-Policy")
        }
        // The answer comes before the body.
        let first = try await answer(to: head)
        #expect(isRefused(first))
        let text = try await answer(to: head + good + good)
        // A close with unread bytes may take the response with it.
        #expect(isRefused(text) || text.isEmpty)
        #expect(!text.contains("200 ") && text.components(separatedBy: "HTTP/1.1 ").count <= 2)
        await fixture.stop()
    }

    @Test(
        arguments: [
            ["isOffline": "true"], ["isOffline": 1], ["delay": "5"], ["failureRate": true],
            ["engine": 1], ["hosts": []], ["hosts": ["orders": 1]], ["stubs": [:]],
            ["unknown": true], ["stubs": [["status": 503, "body": 1]]], ["__proto__": [:]],
        ] as [JSONValue])
    func aSwitchOfAWrongTypeIsRefused(_ switches: JSONValue) async throws {
        let fixture = try await InspectorFixture()
        var wanted = switches.object ?? [:]
        wanted["timesOut"] = true
        let (status, answer) = try await fixture.browser.act([
            "action": "switches", "switches": .object(wanted),
        ])
        #expect(status == 400 && answer["error"]?["code"] == "invalid-action")
        #expect(fixture.system.switches.isEmpty)
        await fixture.stop()
    }

    @Test func aSwitchLeavesTheOthers() async throws {
        let fixture = try await InspectorFixture()
        for switches in [
            ["isOffline": true], ["delay": 5], ["hosts": ["shop": "https://b.example"]],
        ]
            as [JSONValue]
        {
            let action: JSONValue = ["action": "switches", "switches": switches]
            #expect(try await fixture.browser.act(action).status == 200)
        }
        let switches = fixture.system.switches
        #expect(switches.simulation.isOffline && switches.simulation.delay == .milliseconds(5))
        #expect(switches.baseURLs.count == 1 && fixture.system.holdsSwitches)
        #expect(try await fixture.browser.act(["action": "all-off"]).status == 200)
        #expect(fixture.system.switches.isEmpty && !fixture.system.holdsSwitches)
        await fixture.stop()
    }

    @Test func theSwitchesFoundAreThereAfterTheStop() async throws {
        let fixture = try await InspectorFixture { options in
            options.simulation = FailureSimulation(timesOut: true)
        }
        let action: JSONValue = [
            "action": "switches", "switches": ["isOffline": true, "timesOut": false],
        ]
        #expect(try await fixture.browser.act(action).status == 200)
        #expect(fixture.system.switches.simulation.isOffline)
        await fixture.page.stop()
        #expect(fixture.system.switches.simulation == FailureSimulation(timesOut: true))
        #expect(!fixture.system.holdsSwitches)
        await fixture.stop()
    }

    @Test(arguments: ["(12 bytes)", "(12 bytes, streamed)", "(streamed)"])
    func aBodyThatWasNotKeptIsNotSent(_ body: String) async throws {
        let fixture = try await InspectorFixture()
        let (status, answer) = try await fixture.browser.act([
            "action": "send", "service": "shop", "method": "PUT", "target": "/orders/7",
            "body": .string(body),
        ])
        #expect(status == 400 && answer["error"]?["code"] == "invalid-action")
        #expect(fixture.stub.requests.isEmpty)
        await fixture.stop()
    }

    /// A procedure is called again as one, with an id of its own, and from before its signature.
    @Test func aProcedureIsCalledAgain() async throws {
        let fixture = try await InspectorFixture()
        _ = try await fixture.system.call(
            RPCCall("orders.create", parameters: .object(["item": "tea"])), on: "orders")
        _ = try await fixture.browser.calls { $0.first?["state"] == "success" }
        let again = try await fixture.browser.get("/api/call?id=1")["again"]
        #expect(again?["isRPC"] == true && again?["kind"] == "exact")
        #expect(again?["body"] == #"{"item":"tea"}"#)
        let action: JSONValue = [
            "action": "send", "service": "orders", "isRPC": true, "method": "orders.create",
            "body": #"{"item":"coffee"}"#,
        ]
        #expect(try await fixture.browser.act(action).status == 200)
        let calls = try await fixture.browser.calls {
            $0.last?["id"] == "2" && $0.last?["state"] == "success"
        }
        #expect(calls.last?["isRPC"] == true && calls.last?["tags"] == ["sent-again"])
        let sent = try #require(fixture.stub.requests.last)
        let body = try JSONValue(parsing: sent.body)
        #expect(body["method"] == "orders.create" && body["params"]?["item"] == "coffee")
        await fixture.stop()
    }
}
#endif
