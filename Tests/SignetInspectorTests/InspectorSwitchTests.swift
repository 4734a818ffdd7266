#if Inspector
import SignetClient
import SignetInspector
import SignetJSON
import SignetRPC
import SignetTesting
import TestSupport
import Testing

/// The switches of the page, which act on the next call.
@Suite struct InspectorSwitchTests {
    private static func outcome(_ fixture: InspectorFixture) async -> String {
        do throws(ClientError) {
            let response = try await fixture.system.call(RPCCall("orders.list"), on: "orders")
            return response.result?.value.text ?? "nothing"
        } catch {
            return error.code.name
        }
    }

    @Test(
        .features("000-59"),
        arguments: [
            (["isOffline": true], "offline"), (["timesOut": true], "timeout"),
            (["failureRate": 1], "cut-off"),
            (["stubs": [["service": "orders", "status": 503, "body": ""]]], "http-status"),
            (["stubs": [["status": 200, "body": #"{"result":"made up"}"#]]], #""made up""#),
            (["stubs": [["service": "shop", "status": 503]]], #"{"item":"tea"}"#),
            (["stubs": [["method": "orders.create", "status": 503]]], #"{"item":"tea"}"#),
        ] as [(JSONValue, String)])
    func aSwitchActsOnTheNextCall(_ switches: JSONValue, _ expected: String) async throws {
        let fixture = try await InspectorFixture()
        #expect(await Self.outcome(fixture) == #"{"item":"tea"}"#)
        let (status, answer) = try await fixture.browser.act([
            "action": "switches", "switches": switches,
        ])
        #expect(status == 200, "\(answer.text)")
        let shown = answer["about"]?["switches"]
        for (name, value) in switches.object ?? [:] where name != "stubs" {
            #expect(shown?[name] == value)
        }
        #expect(await Self.outcome(fixture) == expected)
        _ = try await fixture.browser.act(["action": "all-off"])
        #expect(await Self.outcome(fixture) == #"{"item":"tea"}"#)
        await fixture.stop()
    }

    @Test func aServicesHostAndTheEngineAreSwitched() async throws {
        let fixture = try await InspectorFixture()
        let (status, answer) = try await fixture.browser.act([
            "action": "switches",
            "switches": ["hosts": ["orders": "https://staging.example.com/rpc"]],
        ])
        #expect(status == 200, "\(answer.text)")
        #expect(
            answer["about"]?["switches"]?["hosts"]?["orders"] == "https://staging.example.com/rpc")
        #expect(await Self.outcome(fixture) == #"{"item":"tea"}"#)
        #expect(fixture.stub.requests.last?.request.authority == "staging.example.com")
        let engine = try await fixture.browser.act([
            "action": "switches", "switches": ["engine": "standard", "hosts": ["orders": ""]],
        ])
        #expect(engine.status == 200)
        #expect(await Self.outcome(fixture) == #"{"item":"tea"}"#)
        #expect(fixture.stub.requests.last?.request.authority == "api.example.com")
        await fixture.stop()
    }

    @Test(
        arguments: [
            ["hosts": ["nobody": "https://a.example"]], ["hosts": ["orders": "no url"]],
            ["failureRate": 2], ["failureRate": -1], ["delay": -1], ["delay": 1e300],
            ["engine": "unknown"], ["stubs": [["status": 99]]], ["stubs": [["status": "503"]]],
        ] as [JSONValue])
    func anInvalidSwitchChangesNothing(_ switches: JSONValue) async throws {
        let fixture = try await InspectorFixture()
        var wanted = switches.object ?? [:]
        wanted["isOffline"] = true
        let (status, answer) = try await fixture.browser.act([
            "action": "switches", "switches": .object(wanted),
        ])
        #expect(status == 400 && answer["error"]?["code"] == "invalid-action")
        #expect(fixture.system.switches.isEmpty)
        #expect(await Self.outcome(fixture) == #"{"item":"tea"}"#)
        await fixture.stop()
    }

    @Test func aCallIsSentAgain() async throws {
        let fixture = try await InspectorFixture()
        let action: JSONValue = [
            "action": "send", "service": "shop", "method": "PUT", "target": "/orders/7?full=1",
            "fields": [["X-Note", "a"]], "body": #"{"item":"coffee"}"#,
        ]
        #expect(try await fixture.browser.act(action).status == 200)
        let calls = try await fixture.browser.calls { $0.last?["state"] == "success" }
        #expect(calls.last?["tags"] == ["sent-again"])
        let sent = try #require(fixture.stub.requests.last)
        #expect(sent.request.path == "/orders/7?full=1" && sent.request.method == .put)
        #expect(sent.request.headerFields[.init("X-Note")!] == "a")
        #expect(sent.body == Array(#"{"item":"coffee"}"#.utf8))
        await fixture.stop()
    }

    @Test(
        arguments: [
            ["service": "nobody"], ["method": "P T"], ["target": "http://evil.example/"],
            ["target": ""], ["fields": [["a b", "c"]]], ["fields": [["a", "b\r\nc: d"]]],
            ["fields": ["a"]], ["body": #"{"token":"(redacted)"}"#],
            ["fields": [["Authorization", "(redacted)"]]], ["target": "/?token=(redacted)"],
        ] as [JSONObject])
    func aWrongRequestIsNotSent(_ change: JSONObject) async throws {
        let fixture = try await InspectorFixture()
        var action: JSONObject = [
            "action": "send", "service": "shop", "method": "PUT", "target": "/orders/7",
            "fields": [], "body": "",
        ]
        for (name, value) in change { action[name] = value }
        let (status, answer) = try await fixture.browser.act(.object(action))
        #expect(status == 400 && answer["error"]?["code"] == "invalid-action")
        #expect(fixture.stub.requests.isEmpty)
        await fixture.stop()
    }
}
#endif
