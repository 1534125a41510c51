# frozen_string_literal: true

ENV["RAILS_ENV"] = "test"

require_relative "../config/environment"
require "rails/test_help"
require "bontebok/capybara"
require "capybara/cuprite"

# The base of the application's system tests. Chromium requests the pages from Bontebok, in each process of the tests.
class ApplicationSystemTestCase < ActionDispatch::SystemTestCase
  Capybara.server = :bontebok, { Threads: "1:4", Server: "antelope" }
  Capybara.default_max_wait_time = 20
  served_by host: "127.0.0.1", port: nil
  # --no-sandbox: the tests may run as root.
  driven_by :cuprite, options: { browser_path: "chromium", process_timeout: 60, timeout: 60,
                                 browser_options: { "no-sandbox" => nil, "disable-dev-shm-usage" => nil } }
  parallelize workers: 2, threshold: 0
end
