import Foundation
import FuzzSupport
import SignetClient

/// A project's file is refused with a message, or each of its paths is below the file's folder or absolute.
private let file = FileManager.default.temporaryDirectory
    .appending(path: "signet-fuzz-\(ProcessInfo.processInfo.processIdentifier).json").path

/// Called by libFuzzer once, before it reads the corpus.
@_cdecl("LLVMFuzzerInitialize")
public func begin(_ count: OpaquePointer?, _ arguments: OpaquePointer?) -> CInt {
    Seeds.write(
        Seeds.files(in: "Examples/shop", named: "project.json")
            + Seeds.texts([
                #"{"schema":"s.json","defaults":"/d","dump":"x","keys":"env:K","passphrase":"p","state":"st","#
                    + #""lastGood":"l","policy":"p.json","caFile":"c","systemVersion":"1","#
                    + #""connectTo":["a:1:b:2"],"app":{"id":"i","version":"v"}}"#
            ]))
    atexit { unsafe unlink(file) }
    return 0
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe input(data, count)
    guard FileManager.default.createFile(atPath: file, contents: Data(input)) else {
        broken("no file can be written")
    }
    do throws(ClientError) {
        let project = try SelfCheckProject(file: file)
        let paths = [
            project.schema, project.defaults, project.dump, project.state, project.lastGood,
            project.policy, project.caFile,
        ]
        for path in paths.compactMap({ $0 }) where !path.hasPrefix("/") {
            broken("a path that is not absolute, of a file whose own path is")
        }
        guard (project.appID == nil) == (project.appVersion == nil) else {
            broken("an app without a version")
        }
    } catch {
        checkMessage(error.message, of: "a project")
    }
    return 0
}
