# frozen_string_literal: true

require "digest"
require_relative "psgi_case"

module Interop
  # Tests that are the same for each framework, at each entrance. The applications have the same routes.
  class FrameworkCases < PsgiCase
    LARGE = Random.new(7).bytes(1024 * 1024)

    def prepare
      temp_file("large.bin", LARGE)
    end

    def self.runnable_methods = self == FrameworkCases ? [] : super

    def test_the_application_gets_path_and_query_in_utf8
      at_each_entrance do |browser|
        response = browser.get("/hello/K%C3%A4the?greeting=%C3%BCber+all")
        assert_equal [200, "hello Käthe über all".b], [response.status, response.body]
        head = browser.head("/hello/K%C3%A4the")
        assert_equal [200, ""], [head.status, head.body]
      end
    end

    # A unix socket has no address of the client.
    def test_the_application_gets_client_scheme_and_host
      at_each_entrance("X-Forwarded-For" => nil) do |browser, name|
        address = name.start_with?("unix") ? "none" : "127.0.0.1"
        assert_equal "#{address} http shop.example:8080", browser.get("/client", "Host" => "shop.example:8080").body
      end
    end

    def test_a_form_is_read
      at_each_entrance do |browser|
        response = browser.post_form("/form", "name" => "Käthe & Co", "empty" => "")
        assert_equal [200, "empty=\nname=Käthe & Co\n".b], [response.status, response.body]
      end
    end

    # The server writes the larger upload to a spool file.
    def test_an_upload_is_read
      { "small" => 1024, "large" => LARGE.size }.each do |name, size|
        bytes = LARGE[0, size]
        at_each_entrance do |browser|
          response = browser.upload("/upload", { "note" => "note" }, ["file", "#{name}.bin", bytes])
          assert_equal [200, "note #{name}.bin #{size} #{Digest::SHA256.hexdigest(bytes)}"],
                       [response.status, response.body]
        end
      end
    end

    def test_an_upload_in_chunks_is_read
      parts = Array.new(30) { |number| Random.new(number).bytes(1 + (number * 1000)) }
      at_each_entrance do |browser|
        assert_equal Digest::SHA256.hexdigest(parts.join), browser.post_chunked("/raw", parts).body
      end
    end

    # curl waits for 100 Continue before it sends the body.
    def test_an_upload_of_curl_is_read
      options = ["-sS", "-H", "Expect: 100-continue", "-F", "note=from curl", "-F", "file=@-;filename=f"]
      curl = Support::ChildProcess.run("curl", *options, "http://#{@entrances.fetch("TCP")}/upload",
                                       stdin: File.join(self.class.site_keeper.temp_dir, "large.bin"))
      assert_equal "from curl f #{LARGE.size} #{Digest::SHA256.hexdigest(LARGE)}", curl.output.text
    end

    def test_a_session_is_kept
      at_each_entrance do |browser|
        assert_equal %w[1 2 3], Array.new(3) { browser.get("/count").body }
        browser.cookies.clear
        assert_equal "1", browser.get("/count").body
      end
    end

    def test_each_cookie_is_sent_in_a_field_of_its_own
      at_each_entrance do |browser|
        cookies = browser.get("/cookies").all("Set-Cookie").map { |text| text[/\A[^;]*/] }
        assert_equal %w[a=1 b=2], cookies.sort.first(2)
      end
    end

    def test_a_file_is_sent
      at_each_entrance do |browser|
        whole = browser.get("/file")
        assert_equal [200, LARGE.size.to_s], [whole.status, whole["Content-Length"]]
        assert_equal Digest::SHA256.hexdigest(LARGE), Digest::SHA256.hexdigest(whole.body)
        part = browser.get("/file", "Range" => "bytes=70000-70009")
        assert_equal [206, "bytes 70000-70009/#{LARGE.size}", LARGE[70_000, 10]],
                     [part.status, part["Content-Range"], part.body]
      end
    end

    def test_a_stream_is_sent
      at_each_entrance do |browser|
        response = browser.get("/stream")
        assert_equal [200, "part 0\npart 1\npart 2\n"], [response.status, response.body]
      end
    end

    def test_a_redirect_and_a_missing_page_are_sent
      at_each_entrance do |browser|
        away = browser.get("/away", "Host" => "shop.example")
        assert_equal [302, "http://shop.example/hello/you"], [away.status, away["Location"]]
        assert_equal 404, browser.get("/nowhere").status
      end
    end

    def test_the_server_survives_an_exception
      at_each_entrance do |browser|
        assert_equal 500, browser.get("/raise").status
        assert_equal "hello you", browser.get("/hello/you").body
      end
      @servers.each_value { |server| server.wait_for_output(/on purpose/) }
    end
  end
end
