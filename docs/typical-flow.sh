#!/bin/sh
# The typical flow of the API, from a new order to a parcel with a tracking number, with curl alone.
#
#   MERCHANT_ID=... API_KEY=... PICTURE_URL=https://shop.example/sunset.jpg sh docs/typical-flow.sh
#
#   BASE_URL      where the service is          (default https://localhost:8443/v3.0)
#   CA_FILE       whom to trust for its HTTPS   (default data/tls/ca.pem)
#   MERCHANT_ID   who you are; `make serve` shows both
#   API_KEY
#   PICTURE_URL   a picture that the service can download
#   MOVE_CLOCK    1 moves the sandbox clock instead of waiting for about half an hour
set -eu

BASE_URL=${BASE_URL:-https://localhost:8443/v3.0}
CA_FILE=${CA_FILE:-data/tls/ca.pem}
: "${MERCHANT_ID:?}" "${API_KEY:?}" "${PICTURE_URL:?}"

# call METHOD PATH [BODY]: prints the answer, and ends the script if it is a refusal.
call() {
    answer=$(curl --silent --show-error --fail-with-body --cacert "$CA_FILE" \
        -H "X-Service-MerchantId: $MERCHANT_ID" -H "X-Service-REST-API-Key: $API_KEY" \
        -H "Content-Type: application/json" -X "$1" "$BASE_URL$2" ${3:+--data "$3"}) || {
        printf '%s\n' "$answer" >&2
        exit 1
    }
    printf '%s\n' "$answer"
}

# member NAME ANSWER: prints the first member of this name in an answer.
member() {
    printf '%s\n' "$2" | grep -o "\"$1\":[^,}]*" | head -n 1 | cut -d : -f 2- | tr -d '"'
}

# 1. Create the order. The address could also follow later, by PUT.
order=$(call POST /orders '{
    "merchantOrderId": "A-1001",
    "recipientName": "Mary Fox",
    "address1": "1 High Street",
    "addressTownOrCity": "London",
    "postalOrZipCode": "SW1A 1AA",
    "countryCode": "GB",
    "preferredShippingMethod": "Express"
}')
id=$(member id "$order")
echo "Order $id was created."

# 2. Add images. Each is downloaded soon after.
image=$(call POST "/orders/$id/images" '{
    "sku": "GLOBAL-PHO-4X6-PRO",
    "url": "'"$PICTURE_URL"'",
    "copies": 2,
    "sizing": "Crop"
}')
echo "Image $(member id "$image") was added, at $(member price "$image") each."
order=$(call GET "/orders/$id")
echo "With shipping that makes $(member price "$order")."

# 3. Find out whether the order can be submitted, once its image has been looked at. Warnings do not
# stand in the way.
check=$(call GET "/orders/$id/SubmissionStatus")
while printf '%s\n' "$check" | grep -q CouldNotValidateImageSize; do
    sleep 1
    check=$(call GET "/orders/$id/SubmissionStatus")
done
if [ "$(member isValid "$check")" != true ]; then
    echo "The order cannot be submitted: $check" >&2
    exit 1
fi
echo "The order can be submitted."

# 4. Submit it: now it is charged, printed and sent.
call POST "/orders/$id/status" '{"status": "Submitted"}' >/dev/null
echo "Order $id was submitted."

# 5. Wait until every parcel has left: by looking now and then, or in a sandbox by moving the clock.
if [ "${MOVE_CLOCK:-0}" = 1 ]; then
    clock=$(call POST /sandbox/clock '{"advance": "PT1H"}')
    echo "The clock was moved to $(member now "$clock")."
fi
order=$(call GET "/orders/$id")
while [ "$(member status "$order")" = Submitted ]; do
    # The last message of an order is its own; those before are its images'.
    trouble=$(printf '%s\n' "$order" | grep -o '"errorMessage":"[^"]*"' | tail -n 1)
    if [ -n "$trouble" ]; then
        echo "The order does not go on: $trouble" >&2
        exit 1
    fi
    sleep 10
    order=$(call GET "/orders/$id")
done

# 6. The order tells how its parcel travels.
echo "Order $id is $(member status "$order")."
echo "Carrier: $(member carrier "$order")"
echo "Tracking number: $(member trackingNumber "$order")"
echo "Follow it at: $(member trackingUrl "$order")"
