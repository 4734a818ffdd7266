import SignetJSON
import SignetVault
import TestSupport
import Testing

/// Values of the launch that the program finds itself.
@Suite struct DetectedValuesTests {
    private static let keys = """
        {"launch.startedAt":{"type":"string","visibility":"public"},
         "launch.appVersion":{"type":"string","visibility":"public"},
         "launch.hostName":{"type":"string","visibility":"public"},
         "launch.locale":{"type":"string","visibility":"public"},
         "launch.operatingSystem":{"type":"string","visibility":"public"}}
        """

    private static let german = ["LANG": "de_DE.UTF-8"]

    private func configuration(
        _ launch: ConfigurationInput, keys: String = keys
    ) throws -> GlobalConfiguration {
        try GlobalConfiguration(schema: schema(keys), defaults: .none, launch: launch)
    }

    @Test(.features("000-07")) func theProgramFindsItsOwnLaunchValues() throws {
        let found = try configuration(.detected(appVersion: "1.4.2", variables: Self.german))
        let values = found.publicValues
        #expect(values["launch.appVersion"]?.string == "1.4.2")
        #expect(values["launch.locale"]?.string == "de-DE")
        #expect(values["launch.hostName"]?.string?.isEmpty == false)
        #expect(values["launch.operatingSystem"]?.string?.isEmpty == false)
        let started = try #require(values["launch.startedAt"]?.string)
        #expect(started.utf8.count == 20 && started.hasPrefix("20") && started.hasSuffix("Z"))
        #expect(found.origin(of: "launch.hostName") == .launch)
    }

    @Test(.features("000-07")) func givenValuesWin() throws {
        let found = try configuration(
            .joined([
                .detected(variables: Self.german),
                .texts(["launch.locale=fr-FR", "launch.appVersion=2"]),
            ]))
        #expect(found.publicValues["launch.locale"]?.string == "fr-FR")
        #expect(found.publicValues["launch.appVersion"]?.string == "2")
        #expect(found.publicValues["launch.hostName"] != nil)
    }

    @Test func onlyKeysOfTheSchemaAreSet() throws {
        let keys =
            #"{"app.startedAt":{"type":"integer","visibility":"public"},"x":{"type":"string"}}"#
        let found = try configuration(.detected(prefix: "app.", appVersion: "1"), keys: keys)
        #expect(found.count == 1)
        let started = try #require(found.publicValues["app.startedAt"]?.number?.int64)
        #expect(started > 1_700_000_000)
        #expect(try configuration(.detected(), keys: keys).count == 0)
    }

    @Test(arguments: [
        (#"{"launch.hostName":{"type":"string","enum":["nobody's"]}}"#, "not-in-list"),
        (#"{"launch.hostName":{"type":"integer"}}"#, "wrong-type"),
        (#"{"launch.hostName":{"type":"string","setBy":["defaults"]}}"#, "source-not-allowed"),
    ])
    func aFoundValueObeysTheSchema(_ keys: String, _ code: String) {
        let found = error { _ = try configuration(.detected(), keys: keys) }
        #expect(found?.code.name == code)
        #expect(found?.message.contains("launch.hostName") == true)
    }

    @Test(
        arguments: [
            (["LANG": "de_DE.UTF-8"], "de-DE"), (["LANG": "en_GB@euro"], "en-GB"),
            (["LC_ALL": "fr_FR", "LANG": "de_DE"], "fr-FR"),
            (["LC_ALL": "", "LC_MESSAGES": "pt_BR.UTF-8", "LANG": "de_DE"], "pt-BR"),
            (["LANG": "de"], "de"), (["LANG": "C"], nil), (["LANG": "C.UTF-8"], nil),
            (["LANG": "POSIX"], nil), ([:], nil), (["LANG": ""], nil), (["LANG": "../../x"], nil),
            (["LANG": "de DE"], nil), (["LANG": "d\u{e9}"], nil), (["LANGUAGE": "de"], nil),
            (["LANG": String(repeating: "a", count: 36)], nil),
        ] as [([String: String], String?)])
    func theLocaleIsALanguageTag(_ variables: [String: String], _ tag: String?) {
        #expect(DetectedValues.locale(in: variables) == tag)
    }

    private static let rest = " S 1 1 1 0 -1 4194560 9 0 0 0 0 0 0 0 20 0 1 0 "

    @Test(
        arguments: [
            ("7 (shop)\(rest)50000 1 2", "600.00 1.0", 900),
            ("7 (a) b) c)\(rest)0 1", "600.9 1", 400),
            ("7 (shop)\(rest)60000 1", "600.00 1.0", 1000),
            ("7 (shop)\(rest)60050 1", "600 1", 1000),
            ("7 (shop)\(rest)90000 1", "600.00 1.0", nil), ("7 (shop)\(rest)-1 1", "600 1", nil),
            ("7 (shop)\(rest)x 1", "600 1", nil), ("7 (shop) S 1", "600 1", nil),
            ("7 shop\(rest)1 1", "600 1", nil), ("", "", nil), ("7 (shop)\(rest)1 1", "", nil),
            ("7 (shop)\(rest)1 1", "nan 1", nil), ("7 (shop)\(rest)1 1", "1e300 1", nil),
            ("7 (shop)\(rest)0 1", "1000.5 1", nil),
        ] as [(String, String, Int64?)])
    func theStartIsReadFromTheKernel(_ stat: String, _ uptime: String, _ start: Int64?) {
        #expect(DetectedValues.processStart(stat: stat, uptime: uptime, now: 1000) == start)
    }
}
