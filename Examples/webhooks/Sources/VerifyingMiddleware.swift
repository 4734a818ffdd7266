import Hummingbird
import SignetSigning

/// Lets verified requests pass, once each, and responds to all others itself.
struct VerifyingMiddleware<Context: RequestContext>: RouterMiddleware {
    let verifier: Verifier
    /// The largest body that is read into memory, in bytes.
    var maximumBodySize = 16 << 20

    func handle(
        _ request: Request, context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var request = request
        let body = try await request.collectBody(upTo: maximumBodySize)
        do throws(SigningError) {
            _ = try await verifier.verify(request.head, body: Array(buffer: body))
        } catch {
            context.logger.notice("refused a webhook", metadata: ["reason": "\(error)"])
            throw HTTPError(
                error.isVerifierFailure ? .serviceUnavailable : .unauthorized,
                message: SigningError.publicMessage)
        }
        return try await next(request, context)
    }
}
