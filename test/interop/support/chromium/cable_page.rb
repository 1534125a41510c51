# frozen_string_literal: true

require "json"

module Interop
  # The page of test/interop/cable, in a tab of Chromium. Its JavaScript object `window.page` counts what arrives.
  class CablePage
    include Support::Eventually

    def initialize(browser, url)
      @tab = browser.open(url)
    end

    # Returns a value of the page.
    def [](name)
      @tab.evaluate("page.#{name}")
    end

    # Calls a function of the page.
    def call(name, *arguments)
      @tab.evaluate("page.#{name}(#{arguments.map { |argument| JSON.generate(argument) }.join(", ")})")
    end

    # Runs JavaScript. Calls of Turbo.visit are noted, and visit nothing.
    def run(script)
      note = "{ visit: (url, { action }) => page.visits.push([url, action]) }"
      @tab.evaluate("page.visits = []; window.Turbo = #{note};\n#{script}")
    end

    # Waits until the echo channel and the stream of broadcasts are subscribed.
    def wait_until_connected(limit = Support::Deadline::DEFAULT_SECONDS)
      eventually("a connected page", limit: limit, seen: -> { [self["connections"], self["errors"]] }) do
        self["connected"] && call("streaming")
      end
    end

    # Returns the number of the open subscription of the broadcasts, or nil.
    def subscription
      @tab.evaluate("page.streaming() ? page.subscribed : null")
    end

    # Returns the process id of the worker that echoes a message now. The page exchanges messages (`start`).
    def worker
      count = self["echoes"].size
      eventually("an echo") { self["echoes"].size > count }
      self["pid"]
    end

    # Returns how many broadcasts Turbo has appended to the page.
    def shown
      @tab.evaluate("document.querySelectorAll('#notes li').length")
    end

    def close
      @tab.close
    end
  end
end
