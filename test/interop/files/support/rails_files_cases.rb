# frozen_string_literal: true

require_relative "rails_files_site"

module Interop
  # Tests of a Rails application whose files the server sends. A test case includes RailsFilesSite, too.
  module RailsFilesCases
    # The bytes that Chromium counts for a 304. For a 200, it adds those of the body.
    HEAD = 300
    ENTRIES = <<~JS
      performance.getEntriesByType("resource").map(({ name, transferSize, responseStatus }) =>
        [new URL(name).pathname, transferSize, responseStatus])
    JS
    TYPES = { "application.css" => "text/css", "gallery.js" => "text/javascript", "antelope.png" => "image/png",
              "antelope.svg" => "image/svg+xml", "antelope.woff2" => "font/woff2" }.freeze
    OTHERS = /manifest|icon/ # the layout names them
    DIGEST = /-\h{20,}(?=\.)/

    # The second time, the browser asks only for the page, and whether the picture with no-cache has changed.
    def test_a_browser_keeps_the_files_of_a_page
      take_asked
      first, second = loads = load_twice("TCP")
      assert_equal [*TYPES.keys.map { |name| "/assets/#{name}" }, *RailsFilesSite::PICTURES].sort, first.map(&:first)
      assert_equal [:network], first.map { |_, from, _| from }.uniq
      assert_equal [200], [*first, *second].map(&:last).uniq
      assert_equal([["/pictures/asked.svg", :validated, 200]], second.reject { |_, from, _| from == :cache })
      assert_equal load_twice("nginx"), loads
      assert_equal ["/gallery"], take_asked.uniq
    end

    def test_each_asset_of_the_page_is_immutable
      at_each_entrance do |browser|
        assets = assets_of(browser.get("/gallery").body, browser)
        assert_equal TYPES.keys.sort, assets.map { |path| File.basename(path).sub(DIGEST, "") }.sort
        take_asked
        assets.each { |path| assert_asset(browser, path) }
        assert_empty take_asked
      end
    end

    def test_files_without_a_digest
      at_each_entrance do |browser|
        take_asked
        %w[/404.html /robots.txt /favicon.ico].each do |path|
          response = browser.get(path)
          assert_equal [200, File.binread("#{public_directory}#{path}")], [response.status, response.body]
          unchanged = browser.get(path, "If-Modified-Since" => response["Last-Modified"])
          assert_equal [304, ""], [unchanged.status, unchanged.body]
        end
        assert_empty take_asked
      end
    end

    # Rails itself sends the page for errors.
    def test_what_is_no_file_is_the_applications
      take_asked
      missing = @server.get("/assets/none.css")
      assert_equal [404, File.binread("#{public_directory}/404.html")], [missing.status, missing.body]
      assert_equal 404, @server.request("POST", "/robots.txt").status
      assert_equal %w[/assets/none.css /robots.txt], take_asked
    end

    private

    # Loads the page in two tabs, one after the other. For each, returns the page's files as
    # [path without digest, where the browser had it from, status].
    def load_twice(entrance)
      Array.new(2) do
        tab = @browser.open("http://#{@entrances.fetch(entrance)}/gallery")
        assert_operator tab.evaluate("document.getElementById('png').naturalWidth"), :>, 0
        assert_equal "rgb(160, 82, 45)", tab.evaluate("getComputedStyle(document.querySelector('.antelope')).color")
        entries = tab.evaluate(ENTRIES).reject { |path, *| path.match?(OTHERS) }.sort
        entries.map { |path, sent, status| [path.sub(DIGEST, ""), source(sent), status] }
      ensure
        tab&.close
      end
    end

    def source(sent)
      { 0 => :cache, HEAD => :validated }.fetch(sent, :network)
    end

    # The page names all but the font, which the stylesheet names.
    def assets_of(page, browser)
      assets = page.scan(%r{"(/assets/[^"]+)"}).flatten
      style = browser.get(assets.find { |path| path.end_with?(".css") }).body
      assets + style.scan(%r{url\(/(assets/[^)]+\.woff2)\)}).map { |path,| "/#{path}" }
    end

    def assert_asset(browser, path)
      response = browser.get(path)
      assert_equal [200, File.binread("#{public_directory}#{path}")], [response.status, response.body], path
      assert_equal [TYPES.fetch(File.basename(path).sub(DIGEST, "")), RailsFilesSite::IMMUTABLE],
                   [response["Content-Type"][/\A[^;]*/], response["Cache-Control"]], path
      assert_equal 304, browser.get(path, "If-None-Match" => response["ETag"]).status
    end
  end
end
