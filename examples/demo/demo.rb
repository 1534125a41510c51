# frozen_string_literal: true

require "cgi"
require "erb"
require "rack"

# Serves a page about its own request, an echo of a form's body, and a response that is sent line by line.
class Demo
  PAGE = ERB.new(File.read(File.join(__dir__, "page.html.erb")), trim_mode: "-")
  BODY_SHOWN = 64 * 1024

  def call(env)
    case env["PATH_INFO"]
    when "/" then page(env)
    when "/echo" then echo(env)
    when "/stream" then [200, { "content-type" => "text/plain; charset=utf-8" }, Countdown.new(50)]
    else [404, { "content-type" => "text/plain" }, ["nothing here; try /\n"]]
    end
  end

  private

  def page(env)
    html = PAGE.result_with_hash(
      facts: { "Process" => Process.pid, "Ruby" => RUBY_VERSION, "Rack" => Rack.release,
               "Server" => env["SERVER_SOFTWARE"] },
      request: env.select { |name, value| name.match?(/\A[A-Z]/) && value.is_a?(String) && !value.empty? }.sort,
      escape: CGI.method(:escapeHTML)
    )
    [200, { "content-type" => "text/html; charset=utf-8" }, [html]]
  end

  def echo(env)
    body = env["rack.input"]&.read(BODY_SHOWN) || ""
    [200, { "content-type" => "text/plain" }, ["#{env["REQUEST_METHOD"]}, #{body.bytesize} bytes:\n", body, "\n"]]
  end

  # The server sends each line when it is yielded: `curl -N` shows one line every fifth of a second. The first line
  # names the worker, for a comparison with the page.
  class Countdown
    def initialize(from)
      @from = from
    end

    def each
      yield "process #{Process.pid}\n"
      @from.downto(1) do |number|
        yield "#{number}\n"
        sleep 0.2
      end
      yield "hop\n"
    end
  end
end
