import Logging
import SignetCurl

/// Writes the lines about calls to the system's logger, at debug, because a library's caller
/// decides what is news. They contain no URL, field, value of a path or message of an error.
struct CallLogger: Sendable {
    let logger: Logger

    func started(_ call: @autoclosure () -> CallIdentity) {
        logger.debug("call started", metadata: call().metadata)
    }

    /// - Parameter duration: The time from the attempt's beginning to the response's header.
    func response(
        to call: @autoclosure () -> CallIdentity, attempt: Int, status: Int,
        after duration: @autoclosure () -> Duration
    ) {
        guard logger.logLevel <= .debug else { return }
        let (call, duration) = (call(), duration())
        logger.debug(
            "response",
            metadata: call.metadata.merging([
                "attempt": "\(attempt)", "status": "\(status)", "duration": "\(duration)",
            ]) { $1 })
    }

    func retry(of call: CallIdentity, after attempt: Int, reason: String, pause: Duration) {
        logger.debug(
            "retrying",
            metadata: call.metadata.merging([
                "attempt": "\(attempt)", "after": "\(reason)", "pause": "\(pause)",
            ]) { $1 })
    }

    func redirect(of call: CallIdentity, _ redirect: Redirect) {
        logger.debug(
            "redirect",
            metadata: [
                "call": "\(call.id)", "status": "\(redirect.status)",
                "to": "\(redirect.to.origin)",
            ])
    }

    /// The call's last line. The caller gets the error.
    func ended(_ log: CallLog) {
        defer {
            if let contents = log.contents, logger.logLevel <= .trace { write(contents, of: log) }
        }
        guard logger.logLevel <= .debug, let record = log.record else { return }
        logger.debug(
            record.failure == nil ? "call finished" : "call failed",
            metadata: {
                var metadata = record.identity.metadata
                metadata["attempts"] = "\(record.attempts.count)"
                metadata["duration"] = "\(record.duration)"
                if let status = record.status { metadata["status"] = "\(status)" }
                if let failure = record.failure { metadata["error"] = "\(failure)" }
                if let other = record.work.joinedCall { metadata["joined"] = "\(other)" }
                return metadata
            }())
    }
}

extension CallLogger {
    /// Writes what a call carried, if it is kept: never in production unless that was asked for.
    fileprivate func write(_ contents: ContentsLog, of log: CallLog) {
        for change in contents.contents {
            var metadata = log.identity.metadata
            metadata["stage"] = "\(change.stage)"
            if let before = change.before { metadata["before"] = "\(before)" }
            if let after = change.after { metadata["after"] = "\(after)" }
            logger.trace("call contents", metadata: metadata)
        }
    }
}

extension CallIdentity {
    /// Number, service, method and path for a line of the log.
    fileprivate var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [
            "call": "\(id)", "service": "\(service)", "method": "\(method)",
        ]
        if let path, !path.isEmpty { metadata["path"] = "\(path)" }
        return metadata
    }
}
