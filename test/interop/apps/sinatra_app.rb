# frozen_string_literal: true

require "digest"
require "rack/session/cookie"
require "sinatra/base"

# The application of sinatra_test.rb. Each route uses one feature of Sinatra.
class SinatraApp < Sinatra::Base
  set :raise_errors, true
  set :public_directory, File.expand_path("public", __dir__)
  use Rack::Session::Cookie, secret: "0123456789abcdef" * 4

  get("/hello/:name") { "hello #{params['name']} #{params['greeting']}" }
  get("/secure") { request.secure?.to_s }
  get("/away") { redirect to("/hello/you") }
  get("/raise") { raise "on purpose" }

  get "/cookies" do
    response.set_cookie("a", "1")
    response.set_cookie("b", "2; 3")
    "two cookies"
  end

  get "/count" do
    session["count"] = session["count"].to_i + 1
    session["count"].to_s
  end

  get "/stream" do
    stream { |out| 3.times { |number| out << "part #{number}\n" } }
  end

  # nginx passes on events at once if it speaks HTTP/1.1 with the server.
  before(%r{/(events|subscribe)}) { headers "X-Accel-Buffering" => "no" if env["SERVER_PROTOCOL"] == "HTTP/1.0" }

  # Server-sent events. The loop ends when the client has left.
  get "/events" do
    content_type "text/event-stream"
    body lambda { |stream|
      stream << "data: first\n\n"
      sleep 0.05 until stream.closed?
      stream.close
    }
  end

  # The chat of Sinatra's README. `sleep` is replaced by an event, which comes at the end.
  CONNECTIONS = Set.new
  LEAVES = Queue.new

  get "/subscribe" do
    stream(:keep_open) do |out|
      out.callback { CONNECTIONS.delete(out) } if CONNECTIONS.add?(out)
      out << "heartbeat:\n"
      LEAVES.pop
    end
  end

  post "/messages/:message" do
    CONNECTIONS.each { |out| out << params["message"] << "\n" }
    "message sent"
  end

  post "/leave" do
    CONNECTIONS.to_a.each(&:close)
    LEAVES << true
    "closed"
  end

  post("/form") { params.sort.map { |name, value| "#{name}=#{value}\n" }.join }

  post "/upload" do
    file = params.fetch("file")
    bytes = file[:tempfile].read
    "#{params['note']} #{file[:filename]} #{bytes.bytesize} #{Digest::SHA256.hexdigest(bytes)}"
  end

  post("/raw") { Digest::SHA256.hexdigest(request.body.read) }
end
