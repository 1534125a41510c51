# frozen_string_literal: true

require_relative "cable_app"
require_relative "chromium/cable_page"
require_relative "chromium/chromium"
require_relative "site_keeper"

module Interop
  # A server with the application of test/interop/cable, and Chromium. A test case includes OnPuma or OnBontebok first,
  # then this module.
  module CableSite
    WORKERS = 2
    # Two streams of server-sent events hold two threads.
    THREADS = 3
    TABS = Support::Length.of(4, 20)

    def self.included(test_class)
      test_class.extend(SiteKeeper)
    end

    def setup
      super
      @keeper = self.class.site_keeper
      @server, @browser = @keeper.site
      @pages = []
    end

    def teardown
      @pages&.each(&:close)
      puts @server.output.lines.last(60) if @server && !passed?
      super
    end

    # Returns the server and the browser.
    def site
      @site ||= begin
        @server = start_replaceable_server(directory: CableApp.prepare, env: environment, workers: WORKERS,
                                           threads: THREADS)
        @browser = Chromium.new(temp_dir) { |command, options| start_process(*command, **options) }
        [@server, @browser]
      end
    end

    def close_site
      @browser&.close
      before_teardown
    ensure
      after_teardown
    end

    private

    def environment
      CableApp.environment(File.join(temp_dir, "cable.sqlite3"))
              .merge("RACK_ENV" => "production", "RAILS_ENV" => "production")
    end

    def open_page
      page = CablePage.new(@browser, "http://#{@server.address}/#{"?impatient" unless Support::Length::LONG}")
      @pages << page
      page.wait_until_connected
      page
    end

    def open_pages
      Array.new(TABS) { open_page }
    end

    def broadcast(number)
      assert_equal 204, @server.request("POST", "/broadcasts?number=#{number}").status
    end
  end
end
