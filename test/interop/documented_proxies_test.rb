# frozen_string_literal: true

require "test_helper"
require_relative "support/servers/documented_nginx"
require_relative "support/test_case"

# nginx as the documents configure it, HAProxy and H2O: which Host the application gets, and how long a body may be.
class DocumentedProxiesTest < Interop::TestCase
  DOCUMENTS = %w[README.md docs/DEPLOYMENT.md docs/PERL.md].freeze
  NAME = "app.example.com"
  # client_max_body_size of the documents. Without this directive, nginx allows 1 MiB.
  BODY_MAX = 10 << 20
  APP = <<~RUBY
    use Rack::Lint
    run(lambda do |env|
      text = [Rack::Request.new(env).base_url, env["HTTP_HOST"] || "none", env["rack.input"].read.bytesize].join(" ")
      [200, { "content-type" => "text/plain" }, [text]]
    end)
  RUBY

  def setup
    start_site(args: ["-w", "1", "-E", "production"], rackup: APP, proxies: [Interop::Haproxy, Interop::H2o])
    DOCUMENTS.each_with_index { |document, number| start_nginx(document, File.join(temp_dir, number.to_s)) }
  end

  def test_the_host_and_the_body_reach_the_application
    at_each_entrance do |browser, name|
      name.end_with?("HTTP/2") ? assert_http2(name) : assert_http1(browser, name)
      assert_body_limits(browser) if name.end_with?(".md")
    end
  end

  private

  def start_nginx(document, directory)
    Dir.mkdir(directory)
    entrances = { document => "unix:#{directory}/1.sock", "#{document} HTTP/2" => "unix:#{directory}/2.sock" }
    start_proxy(Interop::DocumentedNginx.new(document, directory, "#{temp_dir}/application.sock", entrances))
  end

  # nginx has a name, so that a client without Host gets the site of this name.
  def assert_http1(browser, name)
    %w[/ /cable].each do |path|
      assert_equal "http://shop.example:8080 shop.example:8080 0",
                   browser.get(path, "Host" => "shop.example:8080").body
    end
    without = Support::Client.body_from(@entrances.fetch(name))
    name.end_with?(".md") ? assert_equal("http://#{NAME} #{NAME} 0", without) : assert_match(/\S 0\z/, without)
  end

  def assert_http2(name)
    curl = Support::ChildProcess.run("curl", "-sS", "--http2-prior-knowledge", "--unix-socket",
                                     @entrances.fetch(name).delete_prefix("unix:"), "http://shop.example:8080/")
    assert_equal "http://shop.example:8080 shop.example:8080 0", curl.output.text
  end

  def assert_body_limits(browser)
    assert_equal "http://localhost localhost #{BODY_MAX}", browser.request("PUT", "/", {}, "x" * BODY_MAX).body
    assert_equal 413, browser.request("PUT", "/", { "Content-Length" => BODY_MAX + 1 }, "").status
  end
end
