# frozen_string_literal: true

module Interop
  # A tab of Chromium.
  class ChromiumTab
    include Support::Eventually

    def initialize(browser, target, session)
      @browser = browser
      @target = target
      @session = session
    end

    # Runs JavaScript. Waits if the value is a promise. Returns the value, as JSON can express it.
    def evaluate(script)
      result = @browser.command("Runtime.evaluate", session: @session, expression: script,
                                                    awaitPromise: true, returnByValue: true)
      problem = result["exceptionDetails"]
      raise Support::Error, "#{script}: #{problem.dig("exception", "description") || problem["text"]}" if problem

      result["result"]["value"]
    end

    def wait_until_ready
      eventually("the page", limit: Chromium::LIMIT, seen: -> { [evaluate("document.documentElement.outerHTML")] }) do
        evaluate("!!window.page?.ready")
      end
    end

    def close
      @browser.command("Target.closeTarget", targetId: @target)
    end
  end
end
