# frozen_string_literal: true

require "digest"
require_relative "rails_app"
require_relative "test_case"
require_relative "site_keeper"

module Interop
  # Tests of the generated Rails application behind Rack::Lint, over TCP, over a unix socket, and through nginx. A test
  # case that includes this module defines `environment`.
  module RailsCases
    def self.included(test_class)
      test_class.extend(SiteKeeper)
    end

    # In production the generated application requires TLS. nginx sets this field itself.
    BEHIND_TLS = { "X-Forwarded-Proto" => "https" }.freeze

    def setup
      keeper = self.class.site_keeper
      @server, @entrances = keeper.site
    end

    # Returns the server, and the entrances as { name => address }.
    def site
      @site ||= begin
        start_site(directory: RailsApp.prepare, args: ["-w", "1", "-E", environment], env: RailsApp.environment)
        [@server, @entrances]
      end
    end

    def close_site
      before_teardown
    ensure
      after_teardown
    end

    def at_each_entrance
      super(BEHIND_TLS)
    end

    def test_a_form_with_a_token_is_accepted
      at_each_entrance do |browser|
        title = "Käthe & Co"
        created = browser.post_form("/notes", "note[title]" => title, "authenticity_token" => form_token(browser))
        assert_equal [303, "https://localhost/notes/1"], [created.status, created["Location"]], created.body
        assert_equal "kept: #{title}".b, browser.get("/notes/1").body
      end
    end

    def test_a_form_without_a_token_is_rejected
      at_each_entrance { |browser| assert_equal 422, browser.post_form("/notes", "note[title]" => "x").status }
    end

    # The server writes the larger upload to a spool file.
    def test_an_upload_is_read
      [1024, 3 * 1024 * 1024].each do |size|
        bytes = Random.new(size).bytes(size)
        at_each_entrance do |browser|
          form = { "authenticity_token" => page_token(browser) }
          response = browser.upload("/files", form, ["file", "a.bin", bytes])
          assert_equal [200, "a.bin #{size} #{Digest::SHA256.hexdigest(bytes)}"], [response.status, response.body]
        end
      end
    end

    def test_a_part_of_a_file_is_sent
      at_each_entrance do |browser|
        whole = browser.get("/part").body
        part = browser.get("/part", "Range" => "bytes=2-9")
        assert_equal [206, "bytes 2-9/#{whole.bytesize}", whole[2..9]], [part.status, part["Content-Range"], part.body]
      end
    end

    def test_a_session_is_kept_in_a_cookie
      at_each_entrance do |browser|
        assert_equal %w[1 2 3], Array.new(3) { browser.get("/count").body }
      end
    end

    def test_each_cookie_is_sent_in_a_field_of_its_own
      at_each_entrance do |browser|
        first = browser.get("/cookies")
        assert_equal [200, "a b"], [first.status, first.body]
        assert_equal %w[plain signed], first.all("Set-Cookie").map { |cookie| cookie[/\A[^=]*/] }.first(2)
        assert_equal 3, first.all("Set-Cookie").size
      end
    end

    def test_assets_are_served
      at_each_entrance do |browser|
        page = browser.get("/notes/new").body
        style = browser.get(page[/<link rel="stylesheet" href="([^"]+)"/, 1])
        assert_equal [200, "text/css"], [style.status, style["Content-Type"][/\A[^;]*/]]
        assert_match(/sienna/, style.body)
      end
    end

    def test_a_live_stream_is_sent
      at_each_entrance do |browser|
        assert_equal "data: 0\n\ndata: 1\n\ndata: 2\n\n", browser.get("/live").body
      end
    end

    def test_the_health_page_and_errors_are_served
      at_each_entrance do |browser|
        assert_equal([200, 404, 500, 200], %w[/up /nowhere /raise /up].map { |path| browser.get(path).status })
        assert_equal [200, ""], [browser.head("/up").status, browser.head("/up").body]
      end
    end

    private

    # Returns a token that is valid only for the form on /notes/new.
    def form_token(browser)
      browser.get("/notes/new").body[/name="authenticity_token" value="([^"]+)"/, 1] || flunk("no token in the form")
    end

    # Returns a token that is valid for every form.
    def page_token(browser)
      browser.get("/notes/new").body[/name="csrf-token" content="([^"]+)"/, 1] || flunk("no token in the page")
    end
  end
end
