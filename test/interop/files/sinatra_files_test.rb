# frozen_string_literal: true

require "test_helper"
require_relative "../support/test_case"

# A Sinatra application that leaves the files of its directory `public` to the server (`set :static, false`), over TCP,
# over a unix socket, and through nginx.
class SinatraFilesTest < Interop::TestCase
  # Each request that comes to Sinatra is answered with a text.
  APP = <<~RUBY
    require "sinatra/base"
    run(Sinatra.new do
      set :static, false
      get("/*") { "Sinatra: \#{request.path_info}" }
      post("/*") { "posted" }
    end)
  RUBY

  def setup
    temp_file("public/style.css", "p { color: sienna }\n")
    temp_file("public/about.html", "<p>About\n")
    temp_file("public/.env", "a secret\n")
    start_site(args: %w[-w 1 -E production --public public], rackup: APP)
  end

  def test_files_are_sent_and_all_else_is_sinatras
    at_each_entrance do |browser|
      whole = browser.get("/style.css")
      assert_equal [200, "p { color: sienna }\n", "text/css; charset=utf-8"],
                   [whole.status, whole.body, whole["Content-Type"]]
      assert_equal "<p>About\n", browser.get("/about").body
      assert_equal [206, "color"], part(browser)
      assert_equal [304, ""], unchanged(browser, whole)
      assert_equal ["20", ""], [browser.head("/style.css")["Content-Length"], browser.head("/style.css").body]
      assert_equal "posted", browser.post_form("/style.css", {}).body
      ["/", "/none.css", "/.env"].each { |path| assert_equal "Sinatra: #{path}", browser.get(path).body }
    end
  end

  private

  def part(browser)
    response = browser.get("/style.css", "Range" => "bytes=4-8")
    [response.status, response.body]
  end

  def unchanged(browser, whole)
    response = browser.get("/style.css", "If-Modified-Since" => whole["Last-Modified"])
    [response.status, response.body]
  end
end
